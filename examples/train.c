// Data-parallel training of a small neural network, as programs with MPI do it: every rank has its own samples, and
// each layer's gradient is summed over all ranks by MPI_Iallreduce while the layer below is still being computed.
//
//   mpicc -O3 -g train.c -o train -lm
//   mpirun -n 2 ./train [STEPS] [WIDTH]
//
// The work is fixed by STEPS and WIDTH (units of each of the 4 hidden layers), not by time. The last line gives the
// loss, which does not depend on how MPI does its work beyond the rounding of sums.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAYERS = 5, SAMPLES = 32, INPUTS = 64 };

// Layer l maps size[l] values to size[l + 1]: out = relu(weight * in), the last one without relu.
typedef struct {
  int size[LAYERS + 1];
  float* weight[LAYERS];     // size[l + 1] rows of size[l]
  float* gradient[LAYERS];   // the same shape, summed over the ranks' samples
  float* value[LAYERS + 1];  // SAMPLES rows of size[l]
  float* error[LAYERS + 1];  // derivative of the loss by value
  float* target;             // SAMPLES values
} Network;

static float* floats(size_t count) {
  float* memory = calloc(count, sizeof(float));
  if (memory == NULL) {
    fprintf(stderr, "train: no memory for %zu values\n", count);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

// A number in -1..1 that depends on the seed only, so that every rank begins with the same weights.
static float noise(unsigned* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (float)(*seed >> 8) / 8388608.0f - 1.0f;
}

static size_t weights(const Network* network, int layer) {
  return (size_t)network->size[layer] * (size_t)network->size[layer + 1];
}

static Network make_network(int width, int rank) {
  Network network = {.target = floats(SAMPLES)};
  unsigned seed = 1;
  for (int l = 0; l <= LAYERS; ++l) {
    network.size[l] = l == 0 ? INPUTS : l == LAYERS ? 1 : width;
    network.value[l] = floats((size_t)SAMPLES * (size_t)network.size[l]);
    network.error[l] = floats((size_t)SAMPLES * (size_t)network.size[l]);
  }
  for (int l = 0; l < LAYERS; ++l) {
    network.weight[l] = floats(weights(&network, l));
    network.gradient[l] = floats(weights(&network, l));
    const float scale = sqrtf(6.0f / (float)network.size[l]);
    for (size_t i = 0; i < weights(&network, l); ++i) network.weight[l][i] = scale * noise(&seed);
  }
  seed = 1000u + (unsigned)rank;
  for (int s = 0; s < SAMPLES; ++s) {
    float sum = 0;
    for (int i = 0; i < INPUTS; ++i) sum += network.value[0][s * INPUTS + i] = noise(&seed);
    network.target[s] = sinf(sum);  // what the network is to learn
  }
  return network;
}

static void forward(Network* network, int layer) {
  const int in = network->size[layer], out = network->size[layer + 1];
  for (int s = 0; s < SAMPLES; ++s) {
    const float* value = network->value[layer] + s * in;
    for (int o = 0; o < out; ++o) {
      const float* row = network->weight[layer] + (size_t)o * (size_t)in;
      float part[8] = {0};  // eight sums side by side, which the compiler keeps in one vector register
      int i = 0;
      for (; i + 8 <= in; i += 8)
        for (int k = 0; k < 8; ++k) part[k] += row[i + k] * value[i + k];
      float sum = 0;
      for (int k = 0; k < 8; ++k) sum += part[k];
      for (; i < in; ++i) sum += row[i] * value[i];
      network->value[layer + 1][s * out + o] = layer + 1 < LAYERS && sum < 0 ? 0 : sum;
    }
  }
}

// The gradient of the layer's weights from the errors above it: what all ranks need the sum of.
static void find_gradient(Network* network, int layer) {
  const int in = network->size[layer], out = network->size[layer + 1];
  for (int o = 0; o < out; ++o) {
    float* row = network->gradient[layer] + (size_t)o * (size_t)in;
    for (int i = 0; i < in; ++i) row[i] = 0;
    for (int s = 0; s < SAMPLES; ++s) {
      const float error = network->error[layer + 1][s * out + o];
      const float* value = network->value[layer] + s * in;
      for (int i = 0; i < in; ++i) row[i] += error * value[i];
    }
  }
}

// The errors of the layer below, which need none of the communication under way.
static void back(Network* network, int layer) {
  const int in = network->size[layer], out = network->size[layer + 1];
  for (int s = 0; s < SAMPLES; ++s) {
    float* below = network->error[layer] + s * in;
    for (int i = 0; i < in; ++i) below[i] = 0;
    for (int o = 0; o < out; ++o) {
      const float error = network->error[layer + 1][s * out + o];
      const float* row = network->weight[layer] + (size_t)o * (size_t)in;
      for (int i = 0; i < in; ++i) below[i] += error * row[i];
    }
    for (int i = 0; i < in; ++i)
      if (network->value[layer][s * in + i] <= 0) below[i] = 0;
  }
}

// One step of gradient descent; gives this rank's loss before it, and adds the time spent in MPI to *communicating.
static float step(Network* network, float rate, double* communicating) {
  MPI_Request sums[LAYERS];
  float loss = 0;
  for (int l = 0; l < LAYERS; ++l) forward(network, l);
  for (int s = 0; s < SAMPLES; ++s) {
    const float difference = network->value[LAYERS][s] - network->target[s];
    network->error[LAYERS][s] = difference;
    loss += difference * difference / SAMPLES;
  }
  for (int l = LAYERS - 1; l >= 0; --l) {
    find_gradient(network, l);
    const double before = MPI_Wtime();
    MPI_Iallreduce(MPI_IN_PLACE, network->gradient[l], (int)weights(network, l), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                   &sums[l]);
    *communicating += MPI_Wtime() - before;
    if (l > 0) back(network, l);
  }
  for (int l = LAYERS - 1; l >= 0; --l) {
    const double before = MPI_Wtime();
    MPI_Wait(&sums[l], MPI_STATUS_IGNORE);
    *communicating += MPI_Wtime() - before;
    for (size_t i = 0; i < weights(network, l); ++i) network->weight[l][i] -= rate * network->gradient[l][i];
  }
  return loss;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int steps = argc > 1 ? atoi(argv[1]) : 40;
  const int width = argc > 2 ? atoi(argv[2]) : 512;
  if (steps < 1 || width < 1 || width > 8192) {
    if (rank == 0) fprintf(stderr, "usage: train [STEPS >= 1] [WIDTH 1 to 8192]\n");
    MPI_Finalize();
    return 2;
  }
  Network network = make_network(width, rank);
  const float rate = 0.02f / (float)(SAMPLES * ranks);
  double communicating = 0;
  float loss = 0;
  step(&network, rate, &communicating);  // the first step sets up connections and touches the memory
  MPI_Barrier(MPI_COMM_WORLD);
  communicating = 0;
  const double begin = MPI_Wtime();
  for (int i = 0; i < steps; ++i) loss = step(&network, rate, &communicating);
  const double mine[2] = {MPI_Wtime() - begin, communicating};
  double longest[2] = {0, 0};
  float total_loss = 0;
  MPI_Reduce(mine, longest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&loss, &total_loss, 1, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%d ranks, %d steps, width %d: %.3f s, of these %.3f s inside MPI; loss %.4g\n", ranks, steps, width,
           longest[0], longest[1], (double)total_loss / ranks);
  }
  for (int l = 0; l <= LAYERS; ++l) {
    free(network.value[l]);
    free(network.error[l]);
    if (l < LAYERS) free(network.weight[l]);
    if (l < LAYERS) free(network.gradient[l]);
  }
  free(network.target);
  MPI_Finalize();
  return 0;
}
// SPDX-License-Identifier: BSD-3-Clause
