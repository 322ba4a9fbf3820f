# Assay's build: one file, non-recursive. `make help` lists the targets.
#
# Sources are found by wildcard and headers by -MMD, so adding a kernel, a
# command or a test is adding a file. Three worlds, chosen by what is installed,
# never by asking for a GPU: no nvcc (host device only), nvcc without a GPU
# (everything compiles, the host device runs), nvcc with a GPU.
#
# Variables (make NAME=value):
#   CUDA=0          build without CUDA even where nvcc is there
#   ARCH="90"       machine code for these architectures; `ptx` adds PTX of the
#                   last one named, for newer cards (default: 80 90 ptx;
#                   from 75 on)
#   SANITIZE=1      AddressSanitizer and UndefinedBehaviorSanitizer, host code
#   WERROR=1        warnings are errors
#   LINEINFO=1      machine code that knows the lines of its sources, for ncu and compute-sanitizer
#   PYTHON=python3  whose headers `make wheel` compiles with
#   EXTRA="a.c b.cu"   sources beside those of kernels/: variants and operations from elsewhere
#   BUILD=folder    where everything built goes (default: build); no blanks in its path
#   CFLAGS= CPPFLAGS= LDFLAGS= LDLIBS= NVCCFLAGS=
#                   yours, after ours; NVCCFLAGS="-ccbin g++-12" where
#                   nvcc finds the default g++ too new
#   CHART_JS=file   Chart.js, minified, for the charts of reports (default: that of
#                   the package libjs-chart.js; CHART_JS= leaves charts out)
#   PREFIX= DESTDIR=    for install (default: /usr/local)
#   V=1             show the commands

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
comma := ,
space := $(subst ,, )

BUILD ?= build
$(if $(filter-out 1,$(words $(BUILD))),$(error BUILD=$(BUILD): one folder, whose path has no blanks))
PREFIX ?= /usr/local
ARCH ?= 80 90 ptx
VERSION := $(shell cat VERSION)
CLANG_FORMAT ?= $(or $(shell command -v clang-format-14 2>/dev/null),clang-format)
Q := $(if $(V),,@)
say = $(if $(V),,$(info $(space) $(1) $(2)))

# nvcc on the PATH, else where NVIDIA's packages put it. Before 12.0 it did not
# know sm_90a and is as good as none.
NVCC := $(or $(NVCC),$(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc)))
ifndef CUDA
NVCC_MAJOR := $(if $(NVCC),$(shell $(NVCC) --version | sed -n 's/.*release \([0-9]*\).*/\1/p'))
CUDA := $(if $(NVCC_MAJOR),$(shell if [ $(NVCC_MAJOR) -ge 12 ]; then echo 1; else echo 0; fi),0)
$(if $(filter-out 1,$(CUDA)),$(if $(NVCC),$(warning $(NVCC) is older than 12.0: building without CUDA)))
endif

# cblas.h comes with other libraries too: ask for OpenBLAS itself.
OPENBLAS ?= $(if $(and $(wildcard /usr/include/*/cblas.h /usr/include/cblas.h),\
    $(wildcard /usr/lib/*/libopenblas.so /usr/lib/libopenblas.so)),1,0)
ZSTD ?= $(if $(wildcard /usr/include/zstd.h),1,0)

# ------------------------------------------------------------------ flags --

# Texts are cut to their fields on purpose (snprintf), and a contract that grows leaves fields that
# older kernels do not name: those warnings are off.
WARN := -Wall -Wextra -Wno-format-truncation -Wno-missing-field-initializers $(if $(WERROR),-Werror)
SAN := $(if $(SANITIZE),-fsanitize=address -fsanitize=undefined -fno-sanitize-recover=undefined \
    -fno-omit-frame-pointer)
# clang (make fuzz) counts the branches that an input takes. Without OpenMP, whose library it may lack.
FUZZED := $(if $(FUZZ),-fsanitize=fuzzer-no-link -Itests/fuzz/omp -Wno-unknown-warning-option \
    -Wno-unknown-pragmas -Wno-string-plus-int -Wno-format-zero-length,-fopenmp)
# For a library that is the program (make wheel); without the assay_object of a library that it loads.
PICFLAGS := $(if $(PIC),-fPIC -fno-semantic-interposition)
# A file that wants what only GNU's library has says _GNU_SOURCE itself: with it <math.h> declares each
# function in eight types, which takes a quarter of a small file's time.
CPPFLAGS_ALL = $(if $(PIC),-DASSAY_NO_OBJECT) -D_DEFAULT_SOURCE -I. -Iharness -I$(BUILD) $(CPPFLAGS)
# A trace needs lines and no more; CFLAGS="-O0 -g" is for a debugger. Under the sanitisers less is optimised
# away before they look. The rooms of harness/ that no kernel, check or statistic runs in are compiled
# sooner, as are the tests that compute little, and mutants; of what fuzzers are linked with, the rooms
# that read none of their inputs.
SLOW_ROOMS = $(if $(FUZZ),doctor gate judge measure plot report run show,\
    cmd doctor gate export report claims plot trace run show store suite object)
SLOW = $(filter $(SLOW_ROOMS:%=harness/%/%) $(BUILD)/mutants/%,$<)$(filter-out tests/kernels/%,$(filter tests/%.c,$<))
CFLAGS ?= $(if $(SANITIZE),$(if $(SLOW),-O0,-O1),$(if $(SLOW),-O1,-O2)) -g1
# No contraction: a reference in double must not change with the machine.
CFLAGS_ALL = -std=c11 $(WARN) -Wstrict-prototypes -Wmissing-prototypes $(FUZZED) \
    -ffp-contract=off $(PICFLAGS) $(SAN) $(CFLAGS)
# The functions of assay.h that shared objects call are exported, nothing else.
LDFLAGS_ALL = $(LDFLAGS_CUDA) -Wl,--dynamic-list=harness/exports.list $(if $(FUZZ),-fsanitize=fuzzer,-fopenmp) $(SAN) $(LDFLAGS)
# From its archive where there is one: a copied program needs a library less.
archived = $(if $(wildcard /usr/lib/*/lib$(1).a),-l:lib$(1).a,-l$(1))
LDLIBS_ALL = $(call archived,inih) $(if $(filter 1,$(ZSTD)),$(call archived,zstd)) \
    -lsqlite3 -ldl -lm -lpthread $(LDLIBS)

# The program loads OpenBLAS itself: only its header is needed here.
ifeq ($(OPENBLAS),1)
CPPFLAGS_ALL += -DASSAY_HAVE_OPENBLAS=1
endif
ifeq ($(ZSTD),1)
CPPFLAGS_ALL += -DASSAY_HAVE_ZSTD=1
endif

# Headers and libraries stand beside nvcc (NVIDIA's packages) or in the system's
# folders (Debian's and Ubuntu's), where -isystem would break the C++ headers.
# sm_90 is built as sm_90a, which has Hopper's own instructions; PTX cannot be.
# Without fast math: a kernel that wants an approximation writes it out. -O1 is for the host's code of a
# .cu file, which launches and throws nothing; a device's is always of the highest level. Machine code is
# kept compressed, a third of its size: each test of a family has all of it.
$(if $(filter-out 0 1,$(CUDA)),$(error CUDA=$(CUDA): it is 0 or 1))
$(foreach a,$(ARCH),$(if $(filter ptx 75 8% 9% 10% 11% 12%,$(a)),,$(error ARCH=$(a): name what nvcc calls sm_NUMBER, as in ARCH="80 90 ptx")))

ifeq ($(CUDA),1)
$(if $(NVCC),,$(error CUDA=1 needs nvcc on the PATH, or NVCC=path))
CUDA_HOME ?= $(abspath $(dir $(realpath $(NVCC)))/..)
CUDA_INCLUDE := $(filter-out /usr/include/,$(dir $(firstword \
    $(wildcard $(CUDA_HOME)/include/cuda_runtime.h /usr/include/cuda_runtime.h))))
CUPTI_INCLUDE := $(dir $(wildcard $(CUDA_HOME)/extras/CUPTI/include/cupti.h))
CUDA_LIB := $(dir $(firstword $(wildcard $(CUDA_HOME)/targets/*/lib/libcudart_static.a \
    $(CUDA_HOME)/lib64/libcudart_static.a /usr/lib/*/libcudart_static.a)))
CPPFLAGS_ALL += -DASSAY_HAVE_CUDA=1 $(addprefix -isystem ,$(CUDA_INCLUDE) $(CUPTI_INCLUDE))
LDLIBS_ALL += $(addprefix -L,$(CUDA_LIB)) -lcudart_static -lstdc++ -lrt
# Machine code stands behind everything else, so that code of another size moves nothing of the host's:
# program_code.h tells by that whether two programs do the same.
LDFLAGS_CUDA := -Wl,--section-start=.nv_fatbin=0x10000000

MACHINE := $(filter-out ptx,$(ARCH))
PTX := $(if $(filter ptx,$(ARCH)),$(or $(lastword $(MACHINE)),80))
GENCODE := $(foreach a,$(MACHINE:90=90a),-gencode arch=compute_$(a),code=sm_$(a)) \
    $(foreach a,$(PTX),-gencode arch=compute_$(a),code=compute_$(a))
NVCC_WARN := -Xcompiler $(subst $(space),$(comma),$(strip $(WARN) $(PICFLAGS) $(SAN) \
    -Wno-unused-parameter)) $(if $(WERROR),-Werror all-warnings)
# What nvcc includes in every .cu file is read five times, and costs as much as most kernels. The guard of
# libstdc++'s special functions (Bessel and others) is defined, so they stay out; and without
# _GNU_SOURCE, which g++ defines, glibc leaves out the five further types of each mathematical function.
# lean/ has the one function of <utility> that cuda_runtime.h calls.
NVCC_LEAN = -Iharness/device/cuda/lean -D_GLIBCXX_BITS_SPECFUN_H -U_GNU_SOURCE
NVCCFLAGS_ALL = -std=c++17 $(NVCC_LEAN) -O1 $(if $(LINEINFO),-lineinfo) -fmad=true \
    -Xfatbin -compress-all $(GENCODE) \
    -Xcompiler -fno-exceptions $(NVCC_WARN) $(NVCCFLAGS)
endif

# ---------------------------------------------------------------- sources --

# $(call files,FOLDERS,PATTERNS): those in the folders and in folders of theirs, three levels deep.
files = $(sort $(wildcard $(foreach folder,$(1) $(1:=/*) $(1:=/*/*),$(addprefix $(folder)/,$(2)))))
# A file *_cuda.c needs the CUDA headers; *.cu needs nvcc; *_openblas.c needs cblas.h.
buildable = $(filter-out $(if $(filter 1,$(CUDA)),,%_cuda.c %.cu) \
    $(if $(filter 1,$(OPENBLAS)),,%_openblas.c),$(call files,$(1),$(2)))
obj = $(patsubst %,$(BUILD)/%.o,$(1))

$(foreach f,$(EXTRA),$(if $(wildcard $(f)),,$(error EXTRA=$(f): there is no such file)))
# The one file of the object of all variants alone; what is only in the library of `assay time`.
VARIANTS_C := harness/object/variants.c
INJECT_C  := $(wildcard harness/device/cuda/inject/*.c)
HARNESS_O := $(call obj,$(filter-out $(VARIANTS_C) $(INJECT_C),$(call buildable,harness,*.c *.cu)))
FAMILY_O  := $(call obj,$(call buildable,kernels baselines,*.c *.cu) $(EXTRA))
FAULT_O   := $(call obj,$(call buildable,tests/faults,*.c *.cu))
TEST_O    := $(call obj,$(call buildable,tests,test_*.c))
TESTS     := $(TEST_O:.c.o=)
BENCH_O   := $(call obj,$(call files,tests,gate_bench.c))
FUZZ_O    := $(call obj,$(wildcard tests/fuzz/fuzz_*.c))
# What a unit test may call: all of the harness but its main, or with ROOMS these folders of it alone.
PARTS_O   := $(filter-out %/main.c.o,$(HARNESS_O))
PARTS_O   := $(if $(ROOMS),$(filter $(ROOMS:%=$(BUILD)/harness/%/%),$(PARTS_O)),$(PARTS_O))
# $(call named,NAMES,FILES): the files of these names, wherever they are.
named = $(foreach file,$(2),$(if $(filter $(1),$(basename $(notdir $(file)))),$(file)))

# ------------------------------------------------------------------ build --

.PHONY: all
all: $(BUILD)/assay ## build the program: build/assay

# All variants as a shared object, linked from the very files that the program is linked from, so
# that `assay gate --twin` can have those of two builds in one process. Program and object carry the
# SHA-256 of these files in a section, by which a gate knows that they are of one build. They were
# not compiled with -fPIC, and need not be where all symbols are local: only where the compiler makes
# position-independent programs by itself, as distributions have it.
TWINS := $(if $(SANITIZE)$(FUZZ)$(PIC),,$(shell echo | $(CC) $(CFLAGS) -dM -E - | grep -q __PIE__ && echo 1))
VARIANTS := $(if $(TWINS),$(BUILD)/libassay_variants.so)
VARIANTS_BASE := $(filter-out %/error.c.o,$(call obj,$(wildcard harness/base/*.c)))

$(BUILD)/family.o: $(FAMILY_O) $(BUILD)/sources
	$(Q)printf '.section assay_family,"",@progbits\n.asciz "%s"\n.section .note.GNU-stack,"",@progbits\n' \
	    "$$(cat $(FAMILY_O) | sha256sum | cut -c1-64)" | $(CC) -c -x assembler -o $@ -

$(call obj,$(VARIANTS_C)): CFLAGS_ALL += -fPIC
$(call obj,$(VARIANTS_C)): $(BUILD)/provenance.inc

$(BUILD)/base.a: $(VARIANTS_BASE)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# Without those of tests, which may call what only the program has.
$(BUILD)/libassay_variants.so: $(call obj,$(VARIANTS_C)) $(filter-out $(BUILD)/tests/%,$(FAMILY_O)) \
        $(BUILD)/family.o $(BUILD)/base.a
	$(call say,LD  ,$@)
	$(Q)echo '{ global: assay_object; local: *; };' >$(BUILD)/variants.map
	$(Q)$(CC) -shared -Wl,--version-script=$(BUILD)/variants.map $(LDFLAGS) -o $@ $^ $(LDLIBS_ALL) -fopenmp

$(BUILD)/assay: $(HARNESS_O) $(FAMILY_O) $(BUILD)/family.o | $(VARIANTS)
# The same program with variants that misbehave, for the command tests.
$(BUILD)/assay-faults: $(HARNESS_O) $(FAMILY_O) $(FAULT_O)
$(BUILD)/assay $(BUILD)/assay-faults: $(BUILD)/sources harness/exports.list
	$(call say,LD  ,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(LDLIBS_ALL)

# The same code at other addresses.
.PHONY: twin
twin: $(BUILD)/assay-twin ## the same objects linked in another order: a second build for `assay gate --null`
$(BUILD)/assay-twin: $(HARNESS_O) $(FAMILY_O) $(BUILD)/sources harness/exports.list
	$(call say,LD  ,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $$(printf '%s\n' $(filter %.o,$^) | tac) $(LDLIBS_ALL)

# From an archive a test takes what it calls and nothing else, and is linked in a quarter of the time. What
# is there only where CUDA is has to be named: a weak reference takes nothing from an archive.
PARTS := $(filter $(BUILD)/harness/device/cuda/%,$(PARTS_O)) $(BUILD)/parts.a
$(BUILD)/parts.a: $(PARTS_O) $(BUILD)/sources
	$(Q)rm -f $@ && $(AR) rcsT $@ $(filter %.o,$^)

$(BUILD)/tests/main.a: $(BUILD)/tests/main.c.o
	$(Q)rm -f $@ && $(AR) rcs $@ $^
# Where there is gold, it links a test in half the time. The program keeps the usual linker: a gate looks
# at where its code is (program_code.h).
TEST_LINKER := $(if $(shell command -v ld.gold),-fuse-ld=gold)

# A test of a family (test_family_*.c) is linked with the families too.
$(call named,test_family_%,$(TESTS)): $(FAMILY_O)
$(TESTS) $(BENCH_O:.c.o=): %: %.c.o $(BUILD)/tests/main.a $(PARTS) $(BUILD)/sources
	$(call say,LD  ,$@)
	$(Q)$(CC) $(TEST_LINKER) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDLIBS_ALL) -lcmocka

# What the contract calls in a kernel, and cmocka in a test, is given more than most of them look at.
UNUSED = $(if $(filter-out harness/%,$<),-Wno-unused-parameter)
$(BUILD)/%.c.o: %.c $(BUILD)/flags
	$(call say,CC  ,$<)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(UNUSED) -MMD -MP -c -o $@ $<

# Where C finds the C++ header that one of CUPTI's asks for.
$(call obj,harness/device/cuda/counters_cuda.c): CPPFLAGS_ALL += -Iharness/device/cuda/lean

$(BUILD)/%.cu.o: %.cu $(BUILD)/flags
	$(call say,NVCC,$<)
	$(Q)$(NVCC) $(CPPFLAGS_ALL) $(NVCCFLAGS_ALL) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

# Files whose text is a fact about the build. Each is asked for every time and
# written only when it changed, so what depends on it is rebuilt exactly then:
# all objects on other flags, the programs on a file that went away (its object
# must leave the program), one small file on another commit.
quoted = '$(subst ','\'',$(strip $(1)))'
keep = @mkdir -p $(@D) && $(1) > $@.new && \
    if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
COMPILERS = $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(if $(filter 1,$(CUDA)),$(NVCC) $(NVCCFLAGS_ALL))

# All folders, for all objects: a process for each object is a second of a build.
$(BUILD)/flags: FORCE
	@mkdir -p $(sort $(dir $(OBJECTS)))
	$(call keep,printf '%s\n' $(call quoted,$(COMPILERS)))

$(BUILD)/sources: FORCE
	$(call keep,printf '%s\n' $(call quoted,$(HARNESS_O) $(FAMILY_O) $(FAULT_O) $(LDFLAGS_ALL) $(LDLIBS_ALL)))

$(BUILD)/provenance.inc: FORCE
	$(call keep,scripts/provenance.sh $(VERSION) $(call quoted,$(CC)) $(call quoted,$(CFLAGS_ALL)) \
	    $(if $(filter 1,$(CUDA)),$(call quoted,$(NVCC)) $(call quoted,$(NVCCFLAGS_ALL))))

$(call named,provenance.c,$(HARNESS_O)): $(BUILD)/provenance.inc

# What a page brings with it, as bytes: its style, its scripts, and Chart.js where it is installed.
CHART_JS ?= $(wildcard /usr/share/javascript/chart.js/chart.min.js)
PAGE := $(addprefix harness/show/page/,style.css figures.js table.js case.js chart.js explorer.js history.js page.js)

$(BUILD)/page.inc: FORCE
	$(call keep,scripts/page.sh $(call quoted,$(CHART_JS)) $(PAGE))

$(call named,page.c,$(HARNESS_O)): $(BUILD)/page.inc

$(BUILD)/build_revision.inc: harness/gate/build_revision.sh
	@mkdir -p $(@D)
	$(Q){ od -An -v -tx1 $< | sed 's/ \(..\)/0x\1,/g'; echo 0; } >$@

$(call named,program_build.c,$(HARNESS_O)): $(BUILD)/build_revision.inc

# The library that `assay time` has the driver load into programs: position-independent, exporting its
# two entries alone, and without the sanitisers, which those programs lack. The program has it within
# itself, as bytes; none without CUPTI's headers.
INJECT_SRC := $(INJECT_C) harness/device/trace_writer.c \
    $(addprefix harness/device/cuda/,symbols.c cubin.c cupti_activity_cuda.c cupti_library_cuda.c) \
    $(addprefix harness/base/,elf_file.c error.c library.c rng.c text.c)
INJECT_O := $(patsubst %,$(BUILD)/inject/%.o,$(INJECT_SRC))
INJECT := $(if $(filter 1,$(CUDA)),$(if $(wildcard $(addsuffix /cupti_activity.h,$(CUDA_INCLUDE) \
    $(CUPTI_INCLUDE) /usr/include)),$(BUILD)/libassay_time.so))

$(INJECT_O): $(BUILD)/inject/%.o: % $(BUILD)/flags
	$(call say,CC  ,$<)
	$(Q)$(CC) $(CPPFLAGS_ALL) -std=c11 $(WARN) -fPIC -fvisibility=hidden $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/libassay_time.so: $(INJECT_O)
	$(call say,LD  ,$@)
	$(Q)$(CC) -shared -s -Wl,-z,nodelete,-z,defs -o $@ $^ -ldl -lpthread

$(BUILD)/inject.inc: $(INJECT) FORCE
	$(call keep,$(if $(INJECT),od -An -v -tu1 $(INJECT) | sed 's/[0-9][0-9]*/&$(comma)/g',:))

$(BUILD)/harness/trace/program.c.o: $(BUILD)/inject.inc

.PHONY: FORCE
FORCE:

# -------------------------------------------------------------- first run --

# These install first and then ask make again, which sees what is there now.
again = $(MAKE) $(if $(filter -j%,$(MAKEFLAGS)),,-j$$(nproc)) --no-print-directory
DATABASE = $${ASSAY_DB:-results/assay.sqlite}

.PHONY: run
run: ## install what is missing, build, measure the suite core, draw a plot
	@scripts/install-deps.sh run
	@+$(again) all
	@mkdir -p results
	@$(BUILD)/assay run core; status=$$?; \
	case $$status in 0|1|5) \
	    printf '\nEvery sample: %s\n' "$(DATABASE)"; \
	    $(BUILD)/assay plot sweep latest -o results/core.svg && \
	    printf 'The plot:     results/core.svg\n';; \
	esac; exit $$status

.PHONY: test
test: ## install what the tests need and pass them (unit and command tests)
	@scripts/install-deps.sh run test
	@+$(again) check

.PHONY: deps
deps: ## install what building and testing need, and nothing more
	@scripts/install-deps.sh run test

# ------------------------------------------------------------------ tests --

whole = $(call quoted,$(abspath $(BUILD)/$(1)))
RUN_TESTS = ASSAY=$(call whole,assay) FAULTS=$(call whole,assay-faults) \
    scripts/run-tests.sh

COMMAND_TESTS := $(filter-out %/lib.sh,$(wildcard tests/cli/*.sh))
# What the sanitisers repeat on a change; `make check-all` repeats everything (SANITIZED_COMMANDS=% and
# LEFT_OUT=). Command tests: crashes, arguments, files of others, signals and databases; all of them
# would take ten minutes. Unit tests: all but those that hold figures of the operations against their
# bounds, minutes of arithmetic in code that the others have run.
SANITIZED_COMMANDS = bad_arguments bad_database bad_suites exchange faults formats gate_kept \
    signals two_runs
LEFT_OUT = %_bounds %_margin %_attention_long test_family_cards_cuda
UNIT_TESTS = $(filter-out $(if $(SANITIZE),$(call named,$(LEFT_OUT),$(TESTS))),$(TESTS))

.PHONY: check
check: $(BUILD)/assay $(BUILD)/assay.1 $(BUILD)/assay-faults $(UNIT_TESTS) ## unit and command tests; need no GPU
	@scripts/layers.sh $(BUILD)
	@$(RUN_TESTS) $(UNIT_TESTS) $(call named,$(if $(SANITIZE),$(SANITIZED_COMMANDS),%),$(COMMAND_TESTS))

# A few seconds of each are in check: calls that fail and kills (moments.sh, gate_moments.sh), damaged
# and hostile databases (hostile.sh).
.PHONY: campaign
campaign: $(BUILD)/assay $(BUILD)/assay-faults ## kills and failing calls at 400 moments, kills in 210 gates, 2000 hostile databases (half an hour)
	@set -e; for test in moments gate_moments hostile; do folder=$$(mktemp -d); \
	    ASSAY=$(call whole,assay) FAULTS=$(call whole,assay-faults) TMP=$$folder \
	    MOMENTS=400 KILLS=70 HOSTILE=700 bash tests/cli/$$test.sh; rm -r "$$folder"; done

# Each architecture by itself compiles what only it has; then what a newer card's driver compiles
# from PTX; the last is all of them in one program.
ARCHITECTURES = 75 80 86 89 90 100 120 80+ptx 80+86+89+90+100+120+ptx

.PHONY: check-all
check-all: ## check as users build, every architecture, all tests under sanitisers (an hour)
	@+set -e; $(foreach a,$(ARCHITECTURES),echo "ARCH: $(subst +, ,$(a))"; \
	    $(again) all WERROR=1 CUDA=1 ARCH="$(subst +, ,$(a))" BUILD=$(BUILD)/arch-$(a); \
	    echo "ARCH: $(subst +, ,$(a)) builds";)
	@+$(again) check WERROR=1
	@+$(again) check-sanitize-cuda WERROR=1 LEFT_OUT=
	@+$(again) check-sanitize WERROR=1 SANITIZED_COMMANDS=% LEFT_OUT=

# No test may list or count variants or operations: all of them pass with some more (.ci/run does it).
.PHONY: check-probe
check-probe: ## check, with the operation and the variants of tests/probe/ linked in
	@$(again) check BUILD=$(BUILD)/probe EXTRA="$(wildcard tests/probe/*.c)"

.PHONY: check-stats
check-stats: $(BENCH_O:.c.o=) ## error rates of the gate, by simulation (minutes); docs/gate-statistics.md has them
	@$(BENCH_O:.c.o=)

.PHONY: check-proof
check-proof: $(call named,test_code_mutants test_launch_trace_cuda test_program_code test_proof,$(UNIT_TESTS)) ## 500 changes of kernels and 660 of what is launched, which no gate may call UNCHANGED (a minute)
	@CODE_MUTANTS=500 CODE_KERNELS="$(wildcard kernels/int8/*.cu)" TEST_TIMEOUT=600 $(RUN_TESTS) $^

.PHONY: check-gpu
check-gpu: $(BUILD)/assay $(BUILD)/assay-faults ## tests that need a GPU
	@. tests/gpu/env.sh && export PATH LD_LIBRARY_PATH && TEST_TIMEOUT=3600 TEST_JOBS=1 \
	$(RUN_TESTS) $(filter-out %/env.sh %/session.sh,$(wildcard tests/gpu/*.sh))

# No limit of the address space holds under it (worker.c), so a greedy variant
# meets this one: less than the gibibyte that it asks for at a time.
ASAN_MEMORY = allocator_may_return_null=1:max_allocation_size_mb=1000

SANITIZED = ASAN_OPTIONS=handle_segv=0:handle_sigbus=0:handle_abort=0:$(ASAN_MEMORY) \
    UBSAN_OPTIONS=print_stacktrace=1 TEST_TIMEOUT=600 $(again) SANITIZE=1

.PHONY: check-sanitize check-sanitize-cuda check-cupti
check-sanitize: ## most unit and some command tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@+$(SANITIZED) check BUILD=$(BUILD)/sanitize CUDA=0

# What a build without CUDA leaves out of these tests, and no GPU is needed for. No other room is
# compiled for them: they stand on these alone.
CUPTI_ROOMS = measure judge bench device suite object case base
check-sanitize-cuda: ## the tests of CUPTI under the same (needs nvcc)
	@+$(SANITIZED) check-cupti BUILD=$(BUILD)/sanitize-cuda CUDA=1 ARCH=90 ROOMS="$(CUPTI_ROOMS)"

CUPTI_TESTS = $(call named,%_cuda,$(UNIT_TESTS))
check-cupti: $(CUPTI_TESTS)
	@$(RUN_TESTS) $(CUPTI_TESTS)

# ---------------------------------------------------------------- fuzzing --

SECONDS ?= 10

.PHONY: fuzz fuzzers
fuzz: ## random inputs for every parser, SECONDS=10 for each (needs clang; tests/fuzz/README.md)
	@scripts/install-deps.sh run fuzz
	@+$(again) fuzzers CC=clang CUDA=0 SANITIZE=1 FUZZ=1 BUILD=$(BUILD)/fuzz
	@tests/fuzz/run.sh $(BUILD)/fuzz $(SECONDS)

$(FUZZ_O): CPPFLAGS_ALL += -D_GNU_SOURCE # memfd_create, in fuzz.h
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))
fuzzers: $(FUZZERS)
$(FUZZERS): $(BUILD)/%: $(BUILD)/tests/fuzz/%.c.o $(PARTS) $(BUILD)/sources
	$(call say,LD  ,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDLIBS_ALL)

# --------------------------------------------------------------- emulator --

.PHONY: emulate
emulate: ## kernels run on the host, emulated: KERNELS="kernels/int8/mine.cu" FILTER='int8_quantize/mine'; needs nvcc, no GPU
	+@$(MAKE) --no-print-directory -f tests/emulator/emulate.mk BUILD=$(BUILD)/emulator
	@tests/emulator/run.sh $(BUILD)/emulator/assay tests/emulator/emulate.ini $(if $(FILTER),--filter $(call quoted,$(FILTER)))

# ---------------------------------------------------------------- mutants --

# Known mistakes, put into the real kernels, and known ways to cheat (tests/mutants/README.md). The
# makefile that lists them is made, so it is read only where it is asked for.
.PHONY: mutants check-mutants
mutants: $(BUILD)/assay-mutants ## build the program with every mutant; tests/mutants/run.sh kills them

check-mutants: $(BUILD)/assay-host-mutants ## build the mutants of the host and kill them (a minute)
	@tests/mutants/run.sh $<

MUTANT_SRC = $(BUILD)/mutants/src
ifneq ($(filter mutants %/assay-mutants check-mutants %/assay-host-mutants,$(MAKECMDGOALS)),)
$(MUTANT_SRC)/mutants.mk: tests/mutants/mutate.sh $(wildcard tests/mutants/*.txt) \
    $(call files,kernels baselines,*.c *.cu *.h *.cuh)
	$(call say,GEN ,$@)
	$(Q)tests/mutants/mutate.sh $(MUTANT_SRC) $(wildcard tests/mutants/*.txt)
include $(MUTANT_SRC)/mutants.mk
endif

mutant_name = $(firstword $(subst @, ,$(1)))
mutant_file = $(firstword $(wildcard $(MUTANT_SRC)/$(subst @,/,$(1)) $(lastword $(subst @, ,$(1)))))
mutant_flags = -I$(MUTANT_SRC)/$(call mutant_name,$(1)) -include tests/mutants/mutant.h \
    -DASSAY_MUTANT='"$(call mutant_name,$(1))"' $(CPPFLAGS_ALL)
mutant_names = $(sort $(foreach mutant,$(1),$(call mutant_name,$(mutant))))
mutant_parts = $(foreach part,$(MUTANTS),$(if $(filter $(1),$(call mutant_name,$(part))),$(BUILD)/mutants/obj/$(part).o))

MUTANTS_CUDA := $(call mutant_names,$(filter %.cu %_cuda.c,$(MUTANTS)))
MUTANTS_HOST := $(filter-out $(MUTANTS_CUDA),$(call mutant_names,$(MUTANTS)))
mutant_obj = $(patsubst %,$(BUILD)/mutants/%.o,$(1))
MUTANT_PARTS := $(patsubst %,$(BUILD)/mutants/obj/%.o,$(MUTANTS))
CHEAT_O := $(call obj,$(call buildable,tests/mutants/cheats,*.c *.cu))

# Those of the host are linked without CUDA: a suite may not name mutants of a GPU that are not in the
# program, and names those of a GPU where any of its variants is.
of_host = $(filter-out %.cu.o %_cuda.c.o,$(1))
$(BUILD)/assay-mutants: $(call mutant_obj,$(MUTANTS_HOST) $(if $(filter 1,$(CUDA)),$(MUTANTS_CUDA))) \
    $(CHEAT_O) $(HARNESS_O) $(FAMILY_O)
$(BUILD)/assay-host-mutants: $(call mutant_obj,$(MUTANTS_HOST)) $(call of_host,$(CHEAT_O) $(HARNESS_O) $(FAMILY_O))
$(BUILD)/assay-mutants $(BUILD)/assay-host-mutants: $(BUILD)/sources
	$(call say,LD  ,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(LDLIBS_ALL)
	$(Q)$@ list variants >/dev/null # it takes that many

# A mutant is one object. What its files define for others is its own: the real ones are linked too.
# That holds for instances of templates as well, of which the linker would keep one for all: outside
# of their groups they are ordinary functions.
.SECONDEXPANSION:
$(BUILD)/mutants/%.o: $$(call mutant_parts,$$*)
	$(Q)$(LD) -r --force-group-allocation -o $@.new $^
	$(Q)objcopy --keep-global-symbol=none $@.new $@
	$(Q)rm $@.new

$(MUTANT_PARTS): $(BUILD)/mutants/obj/%.o: $(MUTANT_SRC)/$$(call mutant_name,$$*)/stamp tests/mutants/mutant.h $(BUILD)/flags
	$(call say,MUT ,$*)
	$(Q)$(if $(filter %.cu,$*),$(NVCC) $(call mutant_flags,$*) $(NVCCFLAGS_ALL),\
	    $(CC) $(call mutant_flags,$*) $(CFLAGS_ALL) -Wno-unused-parameter) -MMD -MP -MF $(@:.o=.d) -c -o $@ $(call mutant_file,$*)

# ------------------------------------------------------------------- rest --

SOURCES = $(shell find $(wildcard harness kernels baselines python tests) -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cc')

.PHONY: format
format: ## lay the sources out with clang-format
	@$(CLANG_FORMAT) -i $(SOURCES)

.PHONY: check-format
check-format: ## say what `make format` would change
	@$(CLANG_FORMAT) --dry-run --Werror $(SOURCES)

# Where everything goes: "source>folder below PREFIX>name>mode".
ZSH_COMPLETIONS ?= share/zsh/site-functions
share = $(foreach f,$(2),$(f)>$(1)>$(notdir $(f))>644)
INSTALLED = $(BUILD)/assay>bin>assay>755 \
    $(BUILD)/assay.1>share/man/man1>assay.1>644 \
    completions/assay.bash>share/bash-completion/completions>assay>644 \
    completions/_assay>$(ZSH_COMPLETIONS)>_assay>644 \
    $(call share,share/assay/suites,$(wildcard suites/*.ini)) \
    $(call share,share/assay/plots,$(wildcard plots/*.gp)) \
    $(call share,share/doc/assay,README.md LICENSE CHANGELOG.md SECURITY.md) \
    $(call share,share/doc/assay/docs,$(wildcard docs/*.md docs/*.sql)) \
    $(call share,share/doc/assay/docs/schemas,$(wildcard docs/schemas/*.json)) \
    $(call share,share/doc/assay/docs/images,$(wildcard docs/images/*.svg docs/images/*.png)) \
    $(call share,share/doc/assay/results,results/README.md) \
    $(call share,share/doc/assay/results/h200,$(wildcard results/h200/*.svg results/h200/*.md)) \
    $(call share,share/doc/assay/results/h100,$(wildcard results/h100/*.svg results/h100/*.md)) \
    $(call share,share/doc/assay/harness,harness/assay.h) \
    $(call share,include,harness/assay.h harness/assay.hpp) \
    $(call share,share/pkgconfig,$(BUILD)/assay.pc) \
    $(call share,share/cmake/assay,cmake/assayConfig.cmake $(BUILD)/assayConfigVersion.cmake) \
    $(foreach f,/ /scratch/ /variant/,\
        $(call share,share/assay/templates$(f:/=),$(filter-out %.md %/scratch %/variant,$(wildcard templates$(f)*))))
field = $(word $(2),$(subst >, ,$(1)))
installed_as = "$(DESTDIR)$(PREFIX)/$(call field,$(1),2)/$(call field,$(1),3)"

# The man page is the help of the commands.
$(BUILD)/assay.1: $(BUILD)/assay
	$(Q)$(BUILD)/assay help --man >$@

$(BUILD)/assay.pc $(BUILD)/assayConfigVersion.cmake: $(BUILD)/%: cmake/%.in VERSION
	$(Q)sed 's/@VERSION@/$(VERSION)/' $< >$@

.PHONY: install
install: $(BUILD)/assay $(BUILD)/assay.1 $(BUILD)/assay.pc $(BUILD)/assayConfigVersion.cmake ## install below PREFIX (default /usr/local), inside DESTDIR
	$(Q)set -e; $(foreach f,$(INSTALLED),install -D -m $(call field,$(f),4) $(call field,$(f),1) $(call installed_as,$(f));)
	$(call say,INST,$(DESTDIR)$(PREFIX)/bin/assay)

.PHONY: uninstall
uninstall: ## remove what install put there
	$(Q)rm -f $(foreach f,$(INSTALLED),$(call installed_as,$(f)))
	$(Q)for folder in share/assay share/doc/assay share/cmake/assay; do \
	    [ ! -d "$(DESTDIR)$(PREFIX)/$$folder" ] || \
	    find "$(DESTDIR)$(PREFIX)/$$folder" -depth -type d -empty -delete; done

.PHONY: deb
deb: $(BUILD)/assay $(BUILD)/assay.1 ## make a package for Debian and Ubuntu: build/assay_*.deb
	@scripts/install-deps.sh deb
	@scripts/deb.sh $(BUILD) $(VERSION) $(if $(filter 1,$(CUDA)),cuda,host)

# ---------------------------------------------------------------- python --

PYTHON ?= python3
MODULE_O := $(call obj,$(call files,python,*.c))
$(MODULE_O): CPPFLAGS_ALL += -isystem $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')

# Of all symbols only the module's and those that shared objects call can be seen.
$(BUILD)/_assay.abi3.so: $(MODULE_O) $(PARTS_O) $(FAMILY_O) $(BUILD)/sources harness/exports.list
	$(call say,LD  ,$@)
	$(Q)sed '1s/{/{ global: PyInit__assay;/; $$s/}/local: *; }/' harness/exports.list >$(BUILD)/module.map
	$(Q)$(CC) -shared -Wl,--version-script=$(BUILD)/module.map $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(LDLIBS_ALL)

.PHONY: wheel check-wheel
wheel: ## make a package for Python: build/assay-*.whl, which pip installs
	@scripts/install-deps.sh run wheel
	@+$(again) $(BUILD)/pic/_assay.abi3.so BUILD=$(BUILD)/pic PIC=1
	@$(PYTHON) python/wheel.py $(VERSION) $(BUILD)/pic/_assay.abi3.so $(BUILD)

HOST_BUILD = $(BUILD)$(if $(filter 1,$(CUDA)),/host)
check-wheel: ## a wheel without CUDA in a fresh environment of Python: functions on the host, bad input, examples
	@+$(again) wheel CUDA=0 BUILD=$(HOST_BUILD)
	@WHEEL=$(call quoted,$(abspath $(HOST_BUILD))) PYTHON=$(PYTHON) $(RUN_TESTS) tests/python/wheel.sh tests/python/fleet.sh

.PHONY: clean
clean: ## remove everything built; results stay
	rm -rf $(BUILD)

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
	    while IFS='|' read -r target text; do printf '%-22s %s\n' "$$target" "$$text"; done

OBJECTS = $(HARNESS_O) $(INJECT_O) $(FAMILY_O) $(FAULT_O) $(TEST_O) $(BUILD)/tests/main.c.o $(BENCH_O) $(FUZZ_O) \
    $(MUTANT_PARTS) $(CHEAT_O) $(MODULE_O)
-include $(OBJECTS:.o=.d)
