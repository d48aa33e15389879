import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MachineFiles } from '../../../test/support/machine-files'
import { Root } from './root'
import { readSessions } from './sessions'

const unexpected = (sentence: string) => {
  throw new Error(sentence)
}

/** An entry of utmp(5). */
function entry(type: number, user: string, terminal: string, host: string, seconds: number): Buffer {
  const isArm = process.arch === 'arm64'
  const bytes = Buffer.alloc(isArm ? 400 : 384)
  bytes.writeInt16LE(type, 0)
  bytes.write(terminal, 8)
  bytes.write(user, 44)
  bytes.write(host, 76)
  bytes.writeUInt32LE(seconds, isArm ? 344 : 340)
  return bytes
}

test('users who are logged in, from the files of logind, or from utmp without them', () => {
  using machine = new MachineFiles()
  const root = new Root(machine.folder)
  expect(readSessions(root, unexpected)).toEqual([])
  const alice = { user: 'alice', terminal: 'pts/0', from: '192.0.2.7', since: 1_795_773_906_000 }
  machine.write({ 'run/keep': '' })
  const entries = [
    entry(2, 'reboot', '~', '6.1', 1_795_000_000),
    entry(7, 'alice', 'pts/0', '192.0.2.7', 1_795_773_906),
    entry(8, '', 'pts/1', '', 1_795_773_000),
    entry(7, 'root', 'tty1', '', 1_795_773_000),
  ]
  writeFileSync(join(machine.folder, 'run', 'utmp'), Buffer.concat([...entries, Buffer.alloc(20)]))
  const root1 = { user: 'root', terminal: 'tty1', from: null, since: 1_795_773_000_000 }
  expect(readSessions(root, unexpected)).toEqual([root1, alice])

  const session = (text: string) => `# This is private data. Do not parse.\nUID=1000\n${text}`
  machine.write({
    'run/systemd/sessions/3': session(
      'USER=alice\nCLASS=user\nSTATE=active\nTTY=pts/0\nREMOTE_HOST=192.0.2.7\nREALTIME=1795773906000999\n',
    ),
    'run/systemd/sessions/4': session('USER=bob\nCLASS=user\nSTATE=closing\n'),
    'run/systemd/sessions/c1': session('USER=carol\nCLASS=background\nSTATE=active\n'),
    'run/systemd/sessions/3.ref': '',
  })
  expect(readSessions(root, unexpected)).toEqual([alice])
})
