import type { AgentReport } from '../../wire/agent'
import { lineOf, nameOf } from './line'
import type { Root } from './root'

type Session = NonNullable<AgentReport['sessions']>[number]

const maxSessions = 100
const maxBytes = 64 * 1024

/** Users who are logged in, from the files of logind, or else from utmp(5). Without both, none are known. */
export function readSessions(root: Root, problem: (sentence: string) => void): Session[] {
  const files = root.names('run/systemd/sessions').filter(name => /^\w+$/.test(name))
  const sessions = (
    files.length > 0
      ? files.map(name => sessionOf(root.start(`run/systemd/sessions/${name}`, maxBytes)?.toString('utf8') ?? ''))
      : sessionsInUtmp(root.start('run/utmp', maxBytes) ?? Buffer.alloc(0))
  ).filter(one => one !== null)
  if (sessions.length > maxSessions) problem(`Only ${maxSessions} of ${sessions.length} logged-in users are reported.`)
  return sessions.toSorted((a, b) => (a.since ?? 0) - (b.since ?? 0)).slice(0, maxSessions)
}

/** A file of logind: `NAME=value` lines. Null if no user has the session, or it is ending. */
export function sessionOf(text: string): Session | null {
  const value = (name: string) => new RegExp(`^${name}=(.+)$`, 'm').exec(text)?.[1] ?? null
  // Others belong to the system, such as jobs of cron.
  if (!value('CLASS')?.startsWith('user') || value('STATE') === 'closing') return null
  const since = Number(value('REALTIME'))
  return {
    user: nameOf(value('USER') ?? value('UID'), 100),
    terminal: lineOf(value('TTY'), 32),
    from: lineOf(value('REMOTE_HOST'), 253),
    since: Number.isSafeInteger(since) && since > 0 ? Math.floor(since / 1000) : null,
  }
}

/** Where the fields of utmp(5) are, in bytes. On 64-bit ARM, its numbers are longer. */
const layout = process.arch === 'arm64' ? { size: 400, seconds: 344 } : { size: 384, seconds: 340 }
/** `USER_PROCESS`: a user is logged in. */
const userProcess = 7

export function sessionsInUtmp(bytes: Buffer): Session[] {
  const found: Session[] = []
  for (let at = 0; at + layout.size <= bytes.length; at += layout.size) {
    const entry = bytes.subarray(at, at + layout.size)
    const text = (from: number, length: number) => entry.toString('utf8', from, from + length).replace(/\0.*$/s, '')
    if (entry.readInt16LE(0) !== userProcess) continue
    const since = entry.readUInt32LE(layout.seconds) * 1000
    found.push({
      user: nameOf(text(44, 32), 100),
      terminal: lineOf(text(8, 32), 32),
      from: lineOf(text(76, 256), 253),
      since: since || null,
    })
  }
  return found
}
