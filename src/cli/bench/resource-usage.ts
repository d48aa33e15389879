import { machineTime } from './child-processes'

/** Resource usage of a process over some time. */
export interface ResourceUsage {
  /** Share of one core, 0 to 1. */
  cpu: number
  /** Peak resident memory in bytes. */
  maxMemory: number
  /** Share of CPU time that the host gave to other virtual machines, 0 to 1. If it is high, `cpu` is less reliable. */
  stolen: number
}

/** Total CPU time and current memory (bytes) of a process. */
interface UsageSample {
  cpuSeconds: number
  memory: number
}

/** Samples the resource usage of a process once a second. */
export async function measureUsage(seconds: number, sample: () => UsageSample | Promise<UsageSample>): Promise<ResourceUsage> {
  const [first, since, machine] = [await sample(), performance.now(), machineTime()]
  let last = first
  let maxMemory = 0
  for (let second = 0; second < seconds; second++) {
    await Bun.sleep(1000)
    last = await sample()
    maxMemory = Math.max(maxMemory, last.memory)
  }
  const { stolen, all } = machineTime()
  return {
    cpu: ((last.cpuSeconds - first.cpuSeconds) * 1000) / (performance.now() - since),
    maxMemory,
    stolen: (stolen - machine.stolen) / (all - machine.all),
  }
}
