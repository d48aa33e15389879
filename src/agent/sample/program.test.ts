import { expect, test } from 'bun:test'
import { ManualClock } from '../../../test/support/manual-clock'
import { runProgram } from './program'

const limits = { timeoutMs: 10_000, maxBytes: 1000 }

test('the output is read whatever the exit status', async () => {
  expect(await runProgram(['sh', '-c', 'echo "a $LC_ALL $HOME"; echo b >&2; exit 64'], limits)).toEqual({
    code: 64,
    out: 'a C \n',
  })
  expect(await runProgram(['no-such-program'], limits)).toBe('missing')
  expect(await runProgram(['sh', '-c', 'while :; do echo 0123456789; done'], limits)).toBe('too_long')
})

test('a program that never ends is killed, and its children are not waited for', async () => {
  const clock = new ManualClock()
  const marker = `36${process.pid}`
  const running = runProgram(['sh', '-c', `sleep ${marker} & sleep ${marker}`], { ...limits, clock })
  const pids = () =>
    Bun.spawnSync(['pgrep', '-f', `^sleep ${marker}`])
      .stdout.toString()
      .split('\n')
      .filter(Boolean)
      .map(Number)
  while (pids().length < 2) await Bun.sleep(5)
  clock.advance(10_000)
  expect(await running).toBe('timeout')
  for (const pid of pids()) process.kill(pid, 'SIGKILL')
})
