// The one error that the library throws: a fault, a place, what is wrong, and a fix.
#pragma once

#include "base/error.h"
