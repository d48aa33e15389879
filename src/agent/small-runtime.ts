/** Settings that the runtime reads from its environment when it starts, with which the agent needs the least memory. */
const runtimeSettings: Readonly<Record<string, string>> = {
  // Without the just-in-time compiler, it needs a fifth less memory.
  BUN_JSC_useJIT: '0',
  // Forgets the compiled code of functions that have not run for a short while.
  BUN_JSC_useEagerCodeBlockJettisonTiming: '1',
  // Garbage is collected in the main thread, which takes about 2 ms. Other threads cost more memory and CPU time than they save.
  BUN_JSC_useConcurrentGC: '0',
  BUN_JSC_numberOfGCMarkers: '1',
  // Returns free memory to the kernel at once.
  MIMALLOC_PURGE_DELAY: '0',
}

/** The same as assignments for a unit or a script. */
export const runtimeAssignments: string = Object.entries(runtimeSettings)
  .map(pair => pair.join('='))
  .join(' ')

/** Whether the program runs with these settings. */
export const isSmall = (): boolean => Object.entries(runtimeSettings).every(([name, value]) => process.env[name] === value)

/** Replaces this process with the same program with these settings. Returns only if the system can’t do this. */
export function restartSmall(): void {
  const isCompiled = process.argv[1]?.startsWith('/$bunfs/') ?? false
  const { execve } = process as typeof process & { execve?: (file: string, args: string[], env: NodeJS.ProcessEnv) => void }
  execve?.(process.execPath, [process.execPath, ...process.argv.slice(isCompiled ? 2 : 1)], {
    ...process.env,
    ...runtimeSettings,
  })
}
