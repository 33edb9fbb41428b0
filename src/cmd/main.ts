process.stdout.write("flotilla\n");
