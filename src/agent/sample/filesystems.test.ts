import { expect, test } from 'bun:test'
import type { StatsFs } from 'node:fs'
import { ManualClock } from '../../../test/support/manual-clock'
import { FileSystems, mountsIn, type Mount } from './filesystems'
import { Root } from './root'

const paths = (mountinfo: string, folder?: string) =>
  mountsIn(mountinfo, folder).map(({ path, isRemote }) => (isRemote ? `${path} remote` : path))

test('file systems that store data are found once, at the best of their mounts', () => {
  expect(
    paths(`22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw
42 27 254:0 /run/netns /run/netns rw shared:1 - ext4 /dev/vda rw
43 27 8:1 /sub /srv/bind rw shared:1 master:2 - xfs /dev/sda1 rw
44 27 8:1 / /mnt/my\\040long\\134disk rw shared:1 - xfs /dev/sda1 rw
45 27 0:40 / /backup rw - nfs4 nas:/backup rw,hard
46 27 0:41 / /media/share rw - cifs //nas/share rw
47 27 0:42 / /home/me/ssh rw - fuse.sshfs me@host:/ rw
48 27 7:1 / /snap/core/1 ro - squashfs /dev/loop1 ro
49 27 0:50 / /var/lib/docker/overlay2/abc/merged rw - overlay overlay rw
50 27 0:51 / /var/lib/lxcfs rw - fuse.lxcfs lxcfs rw
51 27 0:60 / /tank/data rw - zfs tank/data rw
`),
  ).toEqual(['/', '/backup remote', '/home/me/ssh remote', '/media/share remote', '/mnt/my long\\disk', '/tank/data'])
})

test('in a container, single files of the host are left out', () => {
  expect(
    paths(`500 400 0:99 / / rw - overlay overlay rw,lowerdir=/a
501 500 8:1 /docker/containers/x/hosts /etc/hosts rw - ext4 /dev/sda1 rw
502 500 8:1 /srv/files /data rw - ext4 /dev/sda1 rw
`),
  ).toEqual(['/', '/data'])
})

test('a container finds the file systems of its host below a folder', () => {
  const mountinfo = `500 400 0:99 / / rw - overlay overlay rw
501 500 8:1 / /host ro - ext4 /dev/sda1 rw
502 501 8:2 / /host/data ro - ext4 /dev/sdb1 rw
503 500 8:3 / /hostile rw - ext4 /dev/sdc1 rw
`
  expect(paths(mountinfo, '/host')).toEqual(['/', '/data'])
})

test.each(['', '\n\n', '1 2 3', 'a - b', ' - ', '1 2 0:1 / /x rw - '])('%j is not a mount', text => {
  expect(paths(text)).toEqual([])
})

const stats = { type: 0, bsize: 1, frsize: 4096, blocks: 1000, bfree: 400, bavail: 300, files: 100, ffree: 25 } as StatsFs
const remote = (path: string): Mount => ({ path, type: 'nfs4', source: 'nas:/x', isRemote: true })

/** File systems that answer when the test lets them. */
function scene() {
  const clock = new ManualClock()
  const asked: string[] = []
  const answers = new Map<string, PromiseWithResolvers<StatsFs>>()
  const fileSystems = new FileSystems(new Root(), clock, path => {
    asked.push(path)
    const answer = Promise.withResolvers<StatsFs>()
    answers.set(path, answer)
    return answer.promise
  })
  const problems: string[] = []
  const read = async (mounts: Mount[]) => [...(await fileSystems.read(mounts, sentence => problems.push(sentence))).keys()]
  return { clock, asked, answers, problems, read }
}
const settle = () => new Promise(resolve => setImmediate(resolve))

test('a network file system that does not respond is waited for at most two seconds, and not asked again until it does', async () => {
  const { clock, asked, answers, problems, read } = scene()
  const mounts = [remote('/a'), remote('/b')]
  const first = read(mounts)
  answers.get('/a')!.resolve(stats)
  await settle()
  clock.advance(2000)
  expect(await first).toEqual(['/a'])
  expect(problems).toEqual(['The file system at /b doesn’t respond. Network file systems are not measured until it does.'])
  expect(await read(mounts)).toEqual([])
  expect(asked).toEqual(['/a', '/b'])
  answers.get('/b')!.reject(new Error('EIO'))
  await settle()
  const third = read([remote('/a')])
  answers.get('/a')!.resolve(stats)
  expect(await third).toEqual(['/a'])
  expect(problems).toHaveLength(2)
})

test('sizes are those of df', async () => {
  const fileSystems = new FileSystems(new Root(), new ManualClock(), () => Promise.resolve(stats))
  expect((await fileSystems.read([remote('/a')], () => {})).get('/a')).toEqual({
    'filesystem.used_bytes': 600 * 4096,
    'filesystem.size_bytes': 1000 * 4096,
    'filesystem.available_bytes': 300 * 4096,
    'filesystem.inodes_used_percent': 75,
  })
})
