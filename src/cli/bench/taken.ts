import { machineTime } from './hub-process'

/** What a process took over some time. */
export interface Taken {
  /** Of one core, 0 to 1. */
  cpu: number
  /** Resident memory at most, in octets. */
  mostMemory: number
  /** How much of the machine's time its host gave to others meanwhile, 0 to 1: with more than a little, `cpu` tells of them as well. */
  stolen: number
}

/** What a process has taken since it began, and the memory that it has now in octets. */
export interface Taking {
  cpuSeconds: number
  memory: number
}

/** Looks each second what a process takes. @param read asked once a second, and once before */
export async function takenOver(seconds: number, read: () => Taking | Promise<Taking>): Promise<Taken> {
  const [first, since, machine] = [await read(), performance.now(), machineTime()]
  let last = first
  let mostMemory = 0
  for (let second = 0; second < seconds; second++) {
    await Bun.sleep(1000)
    last = await read()
    mostMemory = Math.max(mostMemory, last.memory)
  }
  const { stolen, all } = machineTime()
  return {
    cpu: ((last.cpuSeconds - first.cpuSeconds) * 1000) / (performance.now() - since),
    mostMemory,
    stolen: (stolen - machine.stolen) / (all - machine.all),
  }
}
