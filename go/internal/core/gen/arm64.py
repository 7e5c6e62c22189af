COMPILER="aarch64-linux-gnu-gcc"
FLAGS=[]
