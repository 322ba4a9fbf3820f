# Assay's build: one file, non-recursive. `make help` lists the targets.
#
# Sources are found by wildcard and headers by -MMD, so adding a kernel is
# adding a file. Three worlds, chosen by what is installed, never by asking for
# a GPU: no nvcc (host device only), nvcc without a GPU (everything compiles,
# the host device runs), nvcc with a GPU.
#
#   make CUDA=0        build without CUDA even where nvcc is there
#   make ARCH="90"     machine code for these architectures (default 80 90 and PTX)
#   make SANITIZE=1    AddressSanitizer and UndefinedBehaviorSanitizer, host code
#   make WERROR=1      warnings are errors (CI)
#   make V=1           show the commands

.DEFAULT_GOAL := all

BUILD ?= build
NVCC ?= $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
CUDA ?= $(if $(NVCC),1,0)
ARCH ?= 80 90 ptx
OPENBLAS ?= $(if $(wildcard /usr/include/*/cblas.h /usr/include/cblas.h),1,0)
Q := $(if $(V),,@)

# ------------------------------------------------------------------ flags --

# Texts are cut to their fields on purpose (snprintf), so that warning is off.
WARN := -Wall -Wextra -Wno-format-truncation $(if $(WERROR),-Werror)
SAN := $(if $(SANITIZE),-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
CPPFLAGS += -D_GNU_SOURCE -I. -Iharness -I$(BUILD)
CFLAGS ?= -O2 -g
CFLAGS_ALL := -std=c11 $(WARN) -Wstrict-prototypes -Wmissing-prototypes -fopenmp -ffp-contract=off $(SAN) $(CFLAGS)
LDLIBS += -l:libinih.a -lsqlite3 -ldl -lm -lpthread
LDFLAGS += -fopenmp $(SAN)

# CUDA without fast math: a kernel that wants an approximation writes it out.
, := ,
GENCODE := $(foreach a,$(filter-out ptx,$(ARCH)),-gencode arch=compute_$(subst 90,90a,$(a))$(,)code=sm_$(subst 90,90a,$(a))) \
           $(if $(filter ptx,$(ARCH)),-gencode arch=compute_$(lastword $(sort 80 $(filter-out ptx,$(ARCH))))$(,)code=compute_$(lastword $(sort 80 $(filter-out ptx,$(ARCH)))))
NVCCFLAGS_ALL := -std=c++20 -O3 -lineinfo -fmad=true $(GENCODE) -Xcompiler "$(WARN) -Wno-missing-field-initializers -Wno-unused-parameter" $(NVCCFLAGS)

ifeq ($(CUDA),1)
CUDA_HOME ?= $(abspath $(dir $(NVCC))/..)
CUDA_LIB := $(firstword $(wildcard $(CUDA_HOME)/targets/x86_64-linux/lib $(CUDA_HOME)/lib64 /usr/lib/x86_64-linux-gnu))
CPPFLAGS += -DASSAY_HAVE_CUDA=1 -isystem $(CUDA_HOME)/include
LDLIBS += -L$(CUDA_LIB) -lcudart_static -lstdc++ -lrt
endif
ifeq ($(OPENBLAS),1)
CPPFLAGS += -DASSAY_HAVE_OPENBLAS=1
LDLIBS += -lopenblas
endif

# ---------------------------------------------------------------- sources --

# A file *_cuda.c needs the CUDA headers; *.cu needs nvcc; *_openblas.c needs cblas.h.
HARNESS_C := $(sort $(wildcard harness/*.c))
FAMILY_C  := $(sort $(wildcard kernels/*/*.c baselines/*.c))
FAMILY_CU := $(sort $(wildcard kernels/*/*.cu baselines/*.cu))
HARNESS_CU := $(sort $(wildcard harness/*.cu))
ifneq ($(CUDA),1)
HARNESS_C := $(filter-out %_cuda.c,$(HARNESS_C))
FAMILY_C := $(filter-out %_cuda.c,$(FAMILY_C))
FAMILY_CU :=
HARNESS_CU :=
endif
ifneq ($(OPENBLAS),1)
FAMILY_C := $(filter-out %_openblas.c,$(FAMILY_C))
endif

obj = $(patsubst %,$(BUILD)/%.o,$(1))
HARNESS_O := $(call obj,$(HARNESS_C) $(HARNESS_CU))
FAMILY_O := $(call obj,$(FAMILY_C) $(FAMILY_CU))

# ------------------------------------------------------------------ rules --

.PHONY: all
all: $(BUILD)/assay

$(BUILD)/assay: $(HARNESS_O) $(FAMILY_O)
	$(if $(Q),@echo "  LD   $@")
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/%.c.o: %.c $(BUILD)/flags
	$(if $(Q),@echo "  CC   $<")
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(BUILD)/%.cu.o: %.cu $(BUILD)/flags
	$(if $(Q),@echo "  NVCC $<")
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(CPPFLAGS) $(NVCCFLAGS_ALL) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

# Changed flags rebuild everything; unchanged ones touch nothing.
FLAGS_NOW = $(CC) $(CPPFLAGS) $(CFLAGS_ALL) $(if $(filter 1,$(CUDA)),$(NVCC) $(NVCCFLAGS_ALL)) $(LDLIBS)
$(BUILD)/flags: FORCE
	@mkdir -p $(BUILD)
	@echo '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || echo '$(subst ','\'',$(FLAGS_NOW))' > $@

.PHONY: FORCE clean format
FORCE:

clean:
	rm -rf $(BUILD)

-include $(patsubst %.o,%.d,$(HARNESS_O) $(FAMILY_O))
