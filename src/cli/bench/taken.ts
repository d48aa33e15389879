/** What a process took over some time. */
export interface Taken {
  /** Of one core, 0 to 1. */
  cpu: number
  /** Resident memory at most, in octets. */
  mostMemory: number
}

/** What a process has taken since it began, and the memory that it has now in octets. */
export interface Taking {
  cpuSeconds: number
  memory: number
}

/** Looks each second what a process takes. @param read asked once a second, and once before */
export async function takenOver(seconds: number, read: () => Taking | Promise<Taking>): Promise<Taken> {
  const [first, since] = [await read(), performance.now()]
  let last = first
  let mostMemory = 0
  for (let second = 0; second < seconds; second++) {
    await Bun.sleep(1000)
    last = await read()
    mostMemory = Math.max(mostMemory, last.memory)
  }
  return { cpu: ((last.cpuSeconds - first.cpuSeconds) * 1000) / (performance.now() - since), mostMemory }
}
