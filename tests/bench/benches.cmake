pw_add_bench(NAME bench_simulator SOURCES bench_simulator.cpp DEPENDS pw_sim)
