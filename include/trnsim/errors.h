// The one error that the library throws: a fault, a place, a problem and a fix.
#pragma once

#include "base/error.h"
