/* fake_cuda.c: NVIDIA's driver and its compiler NVRTC, as far as rust/hashloom-gpu calls them, on the CPU.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * One library under both names, libcuda.so.1 and libnvrtc.so.12. To compile a kernel, a C++ compiler (CXX) makes a
 * library of its text over bench/gpu/cuda_host.h (HASHLOOM_CUDA_HOST names the file); the "PTX" is that library's path.
 * A launch runs all threads of all blocks, one after the other. It checks first that block and grid are as they may be,
 * and that each buffer is one of the device and as long as the kernel's declarations say.
 *
 * HASHLOOM_FAKE_CUDA=FUNCTION:N makes the N-th call of FUNCTION, and all later ones, fail.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, NOT_READY = 600, LAUNCH_FAILED = 719 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Whether this call of a function is meant to fail. */
static int fails(const char *function)
{
    static int ncalls;
    const char *wanted = getenv("HASHLOOM_FAKE_CUDA"), *colon = wanted ? strchr(wanted, ':') : NULL;
    int is_over = 0;

    if (colon && strlen(function) == (size_t)(colon - wanted) && !strncmp(wanted, function, strlen(function))) {
        pthread_mutex_lock(&mutex);
        is_over = ++ncalls >= atoi(colon + 1);
        pthread_mutex_unlock(&mutex);
    }
    return is_over;
}

/* ---- The driver -------------------------------------------------------------------------------------------------- */

/* Buffers of the device. A pointer of the device is one of the host. */
static struct buffer {
    char *at;
    size_t nbytes;
} buffers[256];

static struct buffer *buffer_of(uint64_t pointer)
{
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        if (buffers[i].at && (char *)(uintptr_t)pointer >= buffers[i].at &&
            (char *)(uintptr_t)pointer < buffers[i].at + buffers[i].nbytes)
            return &buffers[i];
    return NULL;
}

static int has_room(uint64_t pointer, size_t nbytes)
{
    const struct buffer *buffer = buffer_of(pointer);

    return buffer && (size_t)(buffer->at + buffer->nbytes - (char *)(uintptr_t)pointer) >= nbytes;
}

int cuInit(unsigned flags)
{
    return fails("cuInit") ? NO_DEVICE : flags == 0 ? OK : INVALID_VALUE;
}

int cuDriverGetVersion(int *version)
{
    *version = 12040;
    return OK;
}

int cuDeviceGetCount(int *count)
{
    *count = fails("cuDeviceGetCount") ? 0 : 1;
    return OK;
}

int cuDeviceGet(int *device, int number)
{
    *device = number;
    return number == 0 ? OK : INVALID_VALUE;
}

int cuDeviceGetName(char *name, int nbytes, int device)
{
    (void)device;
    snprintf(name, (size_t)nbytes, "a CPU that plays a GPU");
    return OK;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)attribute, (void)device;
    *value = 0;
    return OK;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    (void)device;
    *context = &mutex;
    return fails("cuDevicePrimaryCtxRetain") ? OUT_OF_MEMORY : OK;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    return device;
}

static _Thread_local void *current;

int cuCtxGetCurrent(void **context)
{
    *context = current;
    return OK;
}

int cuCtxSetCurrent(void *context)
{
    current = context;
    return OK;
}

int cuCtxSetFlags(unsigned flags)
{
    (void)flags;
    return OK;
}

int cuCtxSynchronize(void)
{
    return OK;
}

int cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    *stream = malloc(1);
    return OK;
}

int cuStreamDestroy_v2(void *stream)
{
    free(stream);
    return OK;
}

int cuStreamSynchronize(void *stream)
{
    (void)stream;
    return fails("cuStreamSynchronize") ? LAUNCH_FAILED : OK;
}

int cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    (void)stream, (void)event, (void)flags;
    return OK;
}

/* The number of times that an event has been asked for: the first answer is that it has not come. */
int cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    *event = calloc(1, sizeof(int));
    return OK;
}

int cuEventRecord(void *event, void *stream)
{
    (void)stream;
    *(int *)event = 0;
    return OK;
}

int cuEventQuery(void *event)
{
    return fails("cuEventQuery") ? LAUNCH_FAILED : (*(int *)event)++ ? OK : NOT_READY;
}

int cuEventSynchronize(void *event)
{
    (void)event;
    return OK;
}

int cuEventDestroy_v2(void *event)
{
    free(event);
    return OK;
}

int cuMemAlloc_v2(uint64_t *pointer, size_t nbytes)
{
    int error = OUT_OF_MEMORY;

    if (nbytes == 0 || fails("cuMemAlloc_v2"))
        return error;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0] && error; i++)
        if (!buffers[i].at && (buffers[i].at = malloc(nbytes))) {
            /* New memory has arbitrary bytes. */
            memset(buffers[i].at, 0xa5, nbytes);
            buffers[i].nbytes = nbytes;
            *pointer = (uint64_t)(uintptr_t)buffers[i].at;
            error = OK;
        }
    pthread_mutex_unlock(&mutex);
    return error;
}

int cuMemFree_v2(uint64_t pointer)
{
    struct buffer *buffer;

    pthread_mutex_lock(&mutex);
    if ((buffer = buffer_of(pointer))) {
        free(buffer->at);
        buffer->at = NULL;
    }
    pthread_mutex_unlock(&mutex);
    return buffer ? OK : INVALID_VALUE;
}

int cuMemsetD8Async(uint64_t pointer, unsigned char byte, size_t nbytes, void *stream)
{
    (void)stream;
    if (!has_room(pointer, nbytes))
        return INVALID_VALUE;
    memset((void *)(uintptr_t)pointer, byte, nbytes);
    return OK;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t nbytes, void *stream)
{
    (void)stream;
    if (!has_room(to, nbytes))
        return INVALID_VALUE;
    memcpy((void *)(uintptr_t)to, from, nbytes);
    return OK;
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t nbytes, void *stream)
{
    (void)stream;
    if (!has_room(from, nbytes) || fails("cuMemcpyDtoHAsync_v2"))
        return INVALID_VALUE;
    memcpy(to, (void *)(uintptr_t)from, nbytes);
    return OK;
}

int cuModuleLoadData(void **module, const void *image)
{
    *module = dlopen(image, RTLD_NOW | RTLD_LOCAL);
    unlink(image);
    return *module && !fails("cuModuleLoadData") ? OK : INVALID_VALUE;
}

int cuModuleUnload(void *module)
{
    return dlclose(module) ? INVALID_VALUE : OK;
}

/* A function is its module. */
int cuModuleGetFunction(void **function, void *module, const char *name)
{
    *function = module;
    return strcmp(name, "search") ? INVALID_VALUE : OK;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned nbytes_shared, void *stream, void **parameters,
                   void **extra)
{
    void (*run)(void **, unsigned, unsigned) = NULL;
    const size_t *sizes = dlsym(function, "fake_sizes");
    void *symbol = dlsym(function, "fake_launch");

    (void)stream;
    if (fails("cuLaunchKernel"))
        return LAUNCH_FAILED;
    /* The kernel's launch bound is the size of its blocks; a grid has at most 65,535 blocks in the plan. */
    if (!sizes || !symbol || extra || nbytes_shared || grid_x == 0 || grid_x > 65535 || grid_y != 1 || grid_z != 1 ||
        block_x != sizes[4] || block_y != 1 || block_z != 1 || sizes[0] > 4096 - 3 * sizeof(uint64_t))
        return INVALID_VALUE;
    for (int i = 1; i < 4; i++)
        if (sizes[i] > 0 && !has_room(*(uint64_t *)parameters[i], sizes[i])) {
            fprintf(stderr, "fake_cuda: parameter %d has less than %zu bytes\n", i, sizes[i]);
            return INVALID_VALUE;
        }
    memcpy(&run, &symbol, sizeof run);
    run(parameters, grid_x, block_x);
    return OK;
}

int cuGetErrorString(int error, const char **text)
{
    *text = error == LAUNCH_FAILED ? "unspecified launch failure"
          : error == OUT_OF_MEMORY ? "out of memory"
          : error == NO_DEVICE     ? "no CUDA-capable device is detected"
                                   : "invalid argument";
    return OK;
}

/* ---- The compiler ------------------------------------------------------------------------------------------------ */

struct program {
    char *text, library[64];
};

int nvrtcCreateProgram(struct program **program, const char *text, const char *name, int nheaders,
                       const char *const *headers, const char *const *names)
{
    (void)name, (void)headers, (void)names;
    *program = calloc(1, sizeof **program);
    (*program)->text = strdup(text);
    return nheaders;
}

int nvrtcCompileProgram(struct program *program, int noptions, const char *const *options)
{
    static const char around[] =
        "\nextern \"C\" const unsigned long fake_sizes[] = {\n"
        "    sizeof(Params), 4ul * NTABLE, sizeof(Results), 4ul * NTAIL, 256};\n"
        "extern \"C\" void fake_launch(void **parameters, unsigned grid, unsigned block)\n{\n"
        "    for (blockIdx.x = 0; blockIdx.x < grid; blockIdx.x++)\n"
        "        for (threadIdx.x = 0; threadIdx.x < block; threadIdx.x++)\n"
        "            search(*(Params *)parameters[0], *(uint4 **)parameters[1], *(Results **)parameters[2],\n"
        "                   *(uint32_t **)parameters[3]);\n}\n";
    const char *compiler = getenv("CXX"), *header = getenv("HASHLOOM_CUDA_HOST");
    char command[1024];
    FILE *pipe;
    int file;

    (void)noptions, (void)options;
    if (fails("nvrtcCompileProgram"))
        return 6;
    snprintf(program->library, sizeof program->library, "/tmp/fake_cuda_XXXXXX");
    if ((file = mkstemp(program->library)) < 0)
        return 1;
    close(file);
    snprintf(command, sizeof command, "%s -O1 -w -shared -fPIC -include '%s' -x c++ - -o '%s'",
             compiler ? compiler : "c++", header ? header : "cuda_host.h", program->library);
    if (!(pipe = popen(command, "w")))
        return 1;
    fputs(program->text, pipe);
    fputs(around, pipe);
    return pclose(pipe) ? 6 : OK;
}

static const char message[] = "kernel.cu(1): error: a fault";

int nvrtcGetProgramLogSize(struct program *program, size_t *nbytes)
{
    (void)program;
    *nbytes = sizeof message;
    return OK;
}

int nvrtcGetProgramLog(struct program *program, char *log)
{
    (void)program;
    memcpy(log, message, sizeof message);
    return OK;
}

int nvrtcGetPTXSize(struct program *program, size_t *nbytes)
{
    *nbytes = strlen(program->library) + 1;
    return OK;
}

int nvrtcGetPTX(struct program *program, char *ptx)
{
    strcpy(ptx, program->library);
    return OK;
}

int nvrtcDestroyProgram(struct program **program)
{
    free((*program)->text);
    free(*program);
    *program = NULL;
    return OK;
}

const char *nvrtcGetErrorString(int error)
{
    return error == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR";
}
