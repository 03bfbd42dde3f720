__version__ = '2.10.0+cu128'
cuda: Optional[str] = '12.8'
hip: Optional[str] = None
