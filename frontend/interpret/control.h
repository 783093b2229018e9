// Control flow, calls, collectives between processes, random numbers, and checks that programs hold themselves against.
#pragma once

#include "frontend/interpret/evaluation.h"

namespace trnsim::frontend::evaluate {

void loop(Evaluation& e);
void branch(Evaluation& e);
void call(Evaluation& e);
void custom_call(Evaluation& e);
void async_start(Evaluation& e);

void all_gather(Evaluation& e);
void all_reduce(Evaluation& e);
void all_to_all(Evaluation& e);
void reduce_scatter(Evaluation& e);
void collective_permute(Evaluation& e);
void collective_broadcast(Evaluation& e);
void collective_reduce(Evaluation& e);
void partition_id(Evaluation& e);
void replica_id(Evaluation& e);
void send(Evaluation& e);
void receive(Evaluation& e);
void infeed(Evaluation& e);
void outfeed(Evaluation& e);
void run_parallel(Evaluation& e);

void rng(Evaluation& e);
void rng_bit_generator(Evaluation& e);

void expect_equal(Evaluation& e);
void expect_equal_constant(Evaluation& e);
void expect_almost_equal(Evaluation& e);
void expect_almost_equal_constant(Evaluation& e);
void expect_close(Evaluation& e);

}  // namespace trnsim::frontend::evaluate
