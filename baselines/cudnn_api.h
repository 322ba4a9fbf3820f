/*
 * cudnn_api.h - the part of cuDNN 9's backend interface that is used here, loaded at run time.
 * Building needs neither the library nor its headers: the numbers below are cuDNN's own and have
 * had these values since cuDNN 8.5 (NVIDIA, cuDNN backend API, "cudnn_graph library", enumeration
 * types: https://docs.nvidia.com/deeplearning/cudnn/backend/latest/api/cudnn-graph-library.html).
 *
 * A descriptor is created, given its attributes, finalised, and read-only from then on. Functions
 * return 0 or a status: 3000 to 3999 say that something is not supported.
 */
#pragma once

#include "assay.h"

/* cudnnDataType_t */
enum cudnn_type {
    CUDNN_FLOAT = 0,
    CUDNN_HALF = 2,
    CUDNN_INT32 = 4,
    CUDNN_BFLOAT16 = 9,
    CUDNN_BOOLEAN = 11,
};

/* cudnnBackendDescriptorType_t */
enum cudnn_descriptor {
    CUDNN_POINTWISE = 0,
    CUDNN_ENGINE = 2,
    CUDNN_ENGINE_CONFIG = 3,
    CUDNN_HEURISTIC = 4,
    CUDNN_PLAN = 5,
    CUDNN_OPERATION_POINTWISE = 13,
    CUDNN_OPERATION_GRAPH = 15,
    CUDNN_VARIANT_PACK = 16,
    CUDNN_TENSOR = 17,
    CUDNN_MATMUL = 18,
    CUDNN_OPERATION_MATMUL = 19,
    CUDNN_REDUCTION = 21,
    CUDNN_OPERATION_REDUCTION = 22,
    CUDNN_OPERATION_RESHAPE = 31,
};

/* cudnnBackendAttributeName_t */
enum cudnn_attribute {
    CUDNN_POINTWISE_MODE = 0,
    CUDNN_POINTWISE_PRECISION = 1,
    CUDNN_POINTWISE_AXIS = 9,
    CUDNN_HEURISTIC_MODE = 200,
    CUDNN_HEURISTIC_GRAPH = 201,
    CUDNN_HEURISTIC_RESULTS = 202,
    CUDNN_CONFIG_ENGINE = 300,
    CUDNN_PLAN_HANDLE = 400,
    CUDNN_PLAN_CONFIG = 401,
    CUDNN_PLAN_WORKSPACE = 402,
    CUDNN_OPERATION_POINTWISE_DESC = 750,
    CUDNN_OPERATION_POINTWISE_X = 751,
    CUDNN_OPERATION_POINTWISE_B = 752,
    CUDNN_OPERATION_POINTWISE_Y = 753,
    CUDNN_OPERATION_POINTWISE_T = 758,
    CUDNN_GRAPH_HANDLE = 800,
    CUDNN_GRAPH_OPERATIONS = 801,
    CUDNN_TENSOR_ALIGNMENT = 900,
    CUDNN_TENSOR_TYPE = 901,
    CUDNN_TENSOR_DIMS = 902,
    CUDNN_TENSOR_STRIDES = 903,
    CUDNN_TENSOR_ID = 906,
    CUDNN_TENSOR_IS_VIRTUAL = 907,
    CUDNN_TENSOR_IS_BY_VALUE = 908,
    CUDNN_PACK_IDS = 1000,
    CUDNN_PACK_POINTERS = 1001,
    CUDNN_PACK_WORKSPACE = 1003,
    CUDNN_ENGINE_INDEX = 1301,
    CUDNN_MATMUL_PRECISION = 1500,
    CUDNN_OPERATION_MATMUL_A = 1520,
    CUDNN_OPERATION_MATMUL_B = 1521,
    CUDNN_OPERATION_MATMUL_C = 1522,
    CUDNN_OPERATION_MATMUL_DESC = 1523,
    CUDNN_REDUCTION_OPERATOR = 1600,
    CUDNN_REDUCTION_PRECISION = 1601,
    CUDNN_OPERATION_REDUCTION_X = 1610,
    CUDNN_OPERATION_REDUCTION_Y = 1611,
    CUDNN_OPERATION_REDUCTION_DESC = 1612,
    CUDNN_OPERATION_RESHAPE_X = 2200,
    CUDNN_OPERATION_RESHAPE_Y = 2201,
};

/* cudnnBackendAttributeType_t */
enum cudnn_attribute_type {
    CUDNN_OF_HANDLE = 0,
    CUDNN_OF_DATA_TYPE = 1,
    CUDNN_OF_BOOLEAN = 2,
    CUDNN_OF_INT64 = 3,
    CUDNN_OF_POINTER = 6,
    CUDNN_OF_HEURISTIC_MODE = 8,
    CUDNN_OF_POINTWISE_MODE = 14,
    CUDNN_OF_DESCRIPTOR = 15,
    CUDNN_OF_REDUCTION = 18,
};

/* cudnnPointwiseMode_t */
enum cudnn_pointwise_mode {
    CUDNN_ADD = 0,
    CUDNN_MULTIPLY = 1,
    CUDNN_DIVIDE = 6,
    CUDNN_SUBTRACT = 9,
    CUDNN_EXPONENTIAL = 13,
    CUDNN_LOGARITHM = 15,
    CUDNN_IDENTITY = 21,
    CUDNN_IS_GREATER_OR_EQUAL = 303,
    CUDNN_INDEX_OF_AXIS = 501,
    CUDNN_SELECT = 601, /* t ? x : b */
};

/* cudnnReduceTensorOp_t */
enum cudnn_reduction { CUDNN_SUM = 0, CUDNN_MAXIMUM = 3 };

/* cudnnTensorFormat_t, cudnnSoftmaxAlgorithm_t (the largest element is taken off),
 * cudnnSoftmaxMode_t (over all but n) */
enum { CUDNN_NCHW = 0, CUDNN_SOFTMAX_ACCURATE = 1, CUDNN_SOFTMAX_INSTANCE = 0 };

/* cudnnBackendHeurMode_t: heuristic A, a decision tree */
enum { CUDNN_HEURISTIC_A = 3 };

/* The functions used. Handles, descriptors and streams are pointers to what cuDNN alone knows. */
struct cudnn {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
    int (*get_property)(int which, int *value); /* 0, 1, 2: the parts of the version */
    const char *(*status_text)(int status);
    void (*last_error)(char *text, size_t size);
    int (*make)(int descriptor_type, void **descriptor);
    int (*unmake)(void *descriptor);
    int (*finalise)(void *descriptor);
    int (*set)(void *descriptor, int attribute, int type, int64_t count, const void *values);
    int (*get)(const void *descriptor, int attribute, int type, int64_t room, int64_t *count,
               void *values);
    int (*execute)(void *handle, void *plan, void *variant_pack);
    /* Of the older interface, which has no graphs; NULL where the library has it no longer. */
    int (*make_tensor)(void **tensor);
    int (*unmake_tensor)(void *tensor);
    int (*set_tensor)(void *tensor, int layout, int type, int n, int c, int h, int w);
    int (*softmax)(void *handle, int algorithm, int mode, const void *alpha, const void *x_tensor,
                   const void *x, const void *beta, const void *y_tensor, void *y);
};

/* 0, or ASSAY_SKIP with assay_error where there is no cuDNN 9; setup returns the same. Loaded once,
 * for the life of the process. If ASSAY_CUDNN is set, only the folder that it names is searched. */
int cudnn_load(const struct cudnn **api);

/* 0 if `status` is. Else assay_error with cuDNN's own message; returns ASSAY_SKIP where the status
 * is "not supported", otherwise -1. */
int cudnn_error(const struct cudnn *api, int status, const char *what);
