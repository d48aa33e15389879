import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// A compiled program sends pings in its own network namespace, as nobody and as root, by whatever method is permitted.

let folder: string
let program: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-ping-'))
  chmodSync(folder, 0o755)
  program = join(folder, 'ping-program')
  const entry = new URL('../support/ping-program.ts', import.meta.url).pathname
  const built = Bun.spawnSync([process.execPath, 'build', '--compile', '--bytecode', '--format=esm', entry, '--outfile', program])
  if (built.exitCode !== 0) throw new Error(built.stderr.toString())
  chmodSync(program, 0o755)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const asNobody = 'setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all'
const canUnshare = Bun.spawnSync(['unshare', '-n', 'true']).exitCode === 0

/** @param groups value of ping_group_range */
function runPings(groups: string, before: string) {
  // The neighbor 10.9.9.2 does not exist, which the kernel finds out by itself.
  const network =
    'ip link set lo up && ip link add v0 type veth peer name v1 && ip addr add 10.9.9.1/24 dev v0 && ip link set v0 up && ip link set v1 up'
  const script = `${network} && echo "${groups}" > /proc/sys/net/ipv4/ping_group_range && exec ${before} "$0" "$@"`
  const run = Bun.spawnSync(['unshare', '-n', 'sh', '-c', script, program, '127.0.0.1', '::1', '192.0.2.1', '10.9.9.2'])
  if (run.exitCode !== 0) throw new Error(run.stderr.toString())
  return JSON.parse(run.stdout.toString())
}

const expectedResults = [
  { connected: true, error: null, total: expect.any(Number) },
  { connected: true, error: null, total: expect.any(Number) },
  { connected: false, error: { kind: 'unreachable', message: expect.stringContaining('no route') }, total: expect.any(Number) },
  { connected: false, error: { kind: 'unreachable', message: 'host unreachable' }, total: expect.any(Number) },
]

test.skipIf(!canUnshare)('nobody uses ping sockets if the group is permitted', () => {
  expect(runPings('0 2147483647', asNobody)).toEqual({
    user: 65_534,
    capability: { method: 'ping_socket', problem: null },
    found: expectedResults,
  })
})

test.skipIf(!canUnshare)('root uses raw sockets if no group is permitted', () => {
  expect(runPings('1 0', '')).toEqual({ user: 0, capability: { method: 'raw_socket', problem: null }, found: expectedResults })
})

test.skipIf(!canUnshare)('nobody gets instructions if nothing is permitted', () => {
  // Without file capabilities, as in a container that drops them.
  const { capability, found } = runPings('1 0', `${asNobody} --no-new-privs`)
  expect(capability).toEqual({ method: 'none', problem: expect.stringContaining('net.ipv4.ping_group_range') })
  expect(found[0].error.kind).toBe('unsupported')
})
