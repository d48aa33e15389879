import { statfsSync, type StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { Clock } from '../../core/clock'
import type { AgentReport } from '../../wire/agent'
import { diskFinder } from './disk-finder'
import type { DeviceFigures, Figures } from './figures'
import { nameOf } from './line'
import { Root } from './root'

/** A mounted file system, from a line of `/proc/self/mountinfo` (proc_pid_mountinfo(5)). */
export interface Mount {
  /** Where it is mounted. */
  path: string
  type: string
  /** The device, or the server and path of a network file system. */
  source: string
  /** Whether another computer or program answers for it, which may never happen. */
  isRemote: boolean
}

type Mounts = NonNullable<AgentReport['mounts']>

const localTypes = /^(ext[234]|xfs|btrfs|zfs|f2fs|jfs|reiserfs|bcachefs|nilfs2|vfat|exfat|ntfs3?|hfsplus|ufs|overlay|virtiofs)$/
const remoteTypes = /^(nfs4?|cifs|smb3|9p|ceph|glusterfs|lustre|afs|fuse|fuseblk|fuse\..+)$/
/** Paths where other programs mount what is shown elsewhere, or single files. */
const internalPaths =
  /^\/(proc|sys|dev|etc|run(?!\/media\/)|snap|var\/lib\/(docker|containers|containerd|kubelet|lxcfs|incus|lxd)|var\/snap)(\/|$)/
const noStorage = /^fuse\.(lxcfs|gvfsd-fuse|portal|snapfuse|fuse-overlayfs)$/

/**
 * File systems that store data, each once, although it may be mounted in several places.
 * @param folder where the file system of the server is; other mounts are ignored
 */
export function mountsIn(mountinfo: string, folder = '/'): Mount[] {
  const byDevice = new Map<string, Mount & { isWhole: boolean }>()
  for (const line of mountinfo.split('\n')) {
    const [before, after] = line.split(' - ')
    const [, , device, from, escaped] = before!.split(' ')
    const [type, source] = after?.split(' ') ?? []
    if (escaped === undefined || type === undefined || noStorage.test(type)) continue
    const path = pathBelow(folder, unescape(escaped))
    const isRemote = remoteTypes.test(type)
    if (path === null || !(isRemote || localTypes.test(type)) || internalPaths.test(path) || (type === 'overlay' && path !== '/'))
      continue
    const mount = { path, type, source: unescape(source ?? ''), isRemote, isWhole: from === '/' }
    const known = byDevice.get(device!)
    if (!known || rank(mount) < rank(known)) byDevice.set(device!, mount)
  }
  return [...byDevice.values()]
    .map(({ path, type, source, isRemote }) => ({ path, type, source, isRemote }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

const maxMounts = 200

/** What is mounted on the server now. */
export function mountedIn(root: Root, problem: (sentence: string) => void): Mounts {
  const found = mountsIn(new Root().text('proc/self/mountinfo') ?? '', root.folder)
  if (found.length > maxMounts) problem(`Only ${maxMounts} of ${found.length} mounted file systems are reported.`)
  const diskOf = diskFinder(root)
  return found.slice(0, maxMounts).map(({ path, source, type }) => ({
    path: nameOf(path, 200),
    // Those of WebDAV can contain a password.
    source: nameOf(source.replace(/:\/\/[^/]*@/, '://'), 300),
    type: nameOf(type, 50),
    ...diskOf(source),
  }))
}

/** Of several mounts of a file system, the root of the server is the best, then one of the whole file system, then the shortest. */
const rank = ({ path, isWhole }: { path: string; isWhole: boolean }) =>
  path === '/' ? 0 : (isWhole ? 1 : 2) * 10_000 + path.length

function pathBelow(folder: string, path: string): string | null {
  if (folder === '/' || path === folder) return folder === '/' ? path : '/'
  return path.startsWith(`${folder}/`) ? path.slice(folder.length) : null
}

/** Spaces and line breaks in paths are octal numbers. */
const unescape = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))

function figuresOf({ blocks, bfree, bavail, frsize, bsize, files, ffree }: StatsFs & { frsize?: number }): Figures {
  const unit = frsize || bsize
  return {
    'filesystem.used_bytes': (blocks - bfree) * unit,
    'filesystem.size_bytes': blocks * unit,
    // Without what is reserved for root.
    'filesystem.available_bytes': bavail * unit,
    // Some file systems, such as Btrfs, create inodes as needed.
    'filesystem.inodes_used_percent': files > 0 ? (100 * (files - ffree)) / files : undefined,
  }
}

const timeoutMs = 2000

/** Reads how full file systems are. */
export class FileSystems {
  /** The remote mount that is being asked. There is only one at a time: each that never answers would keep a thread forever. */
  private asking: { path: string; answer: Promise<unknown> } | null = null

  constructor(
    private readonly root: Root,
    private readonly clock: Clock,
    private readonly ask: (path: string) => Promise<StatsFs> = path => statfs(path),
  ) {}

  /** Figures by path. Waits for remote file systems for two seconds altogether. */
  async read(mounts: readonly Mount[], problem: (sentence: string) => void): Promise<DeviceFigures> {
    const found: DeviceFigures = new Map()
    const add = (path: string, stats: StatsFs) => {
      if (stats.blocks > 0) found.set(path, figuresOf(stats))
    }
    for (const { path } of mounts.filter(one => !one.isRemote)) {
      try {
        add(path, statfsSync(this.root.path(path)))
      } catch {
        // Unmounted since, or not accessible to the user of the agent.
      }
    }
    const remote = mounts.filter(one => one.isRemote)
    if (remote.length > 0) await this.readRemote(remote, add, problem)
    return found
  }

  private async readRemote(
    mounts: readonly Mount[],
    add: (path: string, stats: StatsFs) => void,
    problem: (sentence: string) => void,
  ): Promise<void> {
    let isLate = false
    const late = Promise.withResolvers<void>()
    const timer = this.clock.after(timeoutMs, () => {
      isLate = true
      late.resolve()
    })
    for (const { path } of mounts) {
      if (isLate || this.asking) break
      const answer = this.ask(this.root.path(path)).then(
        stats => isLate || add(path, stats),
        () => undefined,
      )
      this.asking = { path, answer }
      void answer.then(() => (this.asking = null))
      await Promise.race([answer, late.promise])
    }
    timer.cancel()
    if (this.asking)
      problem(`The file system at ${this.asking.path} doesn’t respond. Network file systems are not measured until it does.`)
  }
}
