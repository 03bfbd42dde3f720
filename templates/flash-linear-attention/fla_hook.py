# Prebuilt kernels are looked up before Triton compiles any; see debkit_triton.
try:
    import debkit_triton as _debkit_triton
    _debkit_triton.enable()
except ImportError:
    pass
