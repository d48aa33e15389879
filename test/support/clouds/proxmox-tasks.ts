import { ProxmoxRefused, wrongParameters } from './proxmox-guests'

/** A long call. */
export interface ProxmoxTask {
  upid: string
  node: string
  /** Such as `qmclone`. */
  type: string
  /** VMID. */
  id: string
  user: string
  /** Unix time in seconds. */
  starttime: number
  /** `OK` or the error; null while it runs. */
  exitstatus: string | null
}

interface Work {
  task: ProxmoxTask
  /** When it can end (ms UTC), and how many reads of its status before that. */
  due: number
  reads: number
  work(): void
}

/** The tasks of all nodes. */
export class ProxmoxTasks {
  readonly all: ProxmoxTask[] = []
  /** How long tasks take, in milliseconds. */
  durationMs = 0
  /** How often a task is still running when its status is read. */
  runningReads = 0
  /** Chooses an error of a task, which then changes nothing. */
  fault: (task: ProxmoxTask) => string | null | undefined = () => null
  #running: Work[] = []
  #pid = 1000

  /** @param work ends it. @param undo is called instead, if it fails */
  start(node: string, type: string, id: string, user: string, work: () => void, undo = () => {}): string {
    const starttime = Math.floor(Date.now() / 1000)
    const numbers = [++this.#pid, this.#pid * 100, starttime].map(one => one.toString(16).toUpperCase().padStart(8, '0'))
    const upid = `UPID:${node}:${numbers.join(':')}:${type}:${id}:${user}:`
    const task: ProxmoxTask = { upid, node, type, id, user, starttime, exitstatus: null }
    this.all.push(task)
    const run = () => {
      const error = this.fault(task)
      if (!error) return work()
      undo()
      throw new ProxmoxRefused(500, error)
    }
    this.#running.push({ task, due: Date.now() + this.durationMs, reads: this.runningReads, work: run })
    this.settle()
    return upid
  }

  /** Ends the tasks whose time has come. @param force ends all */
  settle(force = false): void {
    const ended = this.#running.filter(one => force || (one.reads <= 0 && one.due <= Date.now()))
    this.#running = this.#running.filter(one => !ended.includes(one))
    for (const { task, work } of ended) task.exitstatus = outcomeOf(work)
  }

  /** Removes the logs of all tasks, as Proxmox does after some time. */
  forget(): void {
    this.settle(true)
    this.all.splice(0)
  }

  isRunning(test: (task: ProxmoxTask) => boolean): boolean {
    return this.#running.some(one => test(one.task))
  }

  status(node: string, upid: string): object {
    if (!/^UPID:[\w-]+(?::[0-9A-F]{8,9}){3}:[^:\s]+:[^:\s]*:[^:\s]+:$/.test(upid))
      throw wrongParameters({ upid: 'unable to parse worker upid' })
    const task = this.all.find(one => one.upid === upid && one.node === node)
    if (!task) throw wrongParameters({ upid: 'no such task' })
    const running = this.#running.find(one => one.task === task)
    if (running) running.reads--
    const { starttime, exitstatus } = task
    const [, , pid, pstart] = upid.split(':')
    return {
      ...{ upid, node, type: task.type, id: task.id, user: task.user, starttime },
      ...{ pid: Number.parseInt(pid!, 16), pstart: Number.parseInt(pstart!, 16) },
      ...(exitstatus === null ? { status: 'running' } : { status: 'stopped', exitstatus }),
    }
  }

  /** Newest first. */
  list(node: string, values: Record<string, string>): object[] {
    const { vmid, since = '0', typefilter, source = 'archive', limit = '50' } = values
    return this.all
      .filter(one => one.node === node && one.starttime >= Number(since) && (vmid === undefined || one.id === vmid))
      .filter(one => typefilter === undefined || one.type === typefilter)
      .filter(one => source === 'all' || (source === 'archive') === (one.exitstatus !== null))
      .map(({ exitstatus, ...task }) => {
        const [, , pid, pstart] = task.upid.split(':')
        return {
          ...{ ...task, pid: Number.parseInt(pid!, 16), pstart: Number.parseInt(pstart!, 16) },
          ...(exitstatus === null ? { status: 'RUNNING' } : { status: exitstatus, endtime: task.starttime }),
        }
      })
      .reverse()
      .slice(0, Number(limit))
  }
}

function outcomeOf(work: () => void): string {
  try {
    work()
    return 'OK'
  } catch (error) {
    if (error instanceof ProxmoxRefused) return error.message
    throw error
  }
}
