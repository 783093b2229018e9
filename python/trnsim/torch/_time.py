def add(figures, given, folder): pass
def lines(figures, given): return []
