import pino from 'pino'

/** Structured lines on standard error, one JSON object each, with secrets replaced. */
export type Log = pino.Logger

/** Members whose values never reach a log, at any depth that our own lines use. */
const secretMembers = [
  'authorization',
  'cookie',
  'set-cookie',
  'token',
  'secret',
  'password',
  'uuid',
  'ping_url',
  'pingUrl',
  'setup_link',
  'webhook-signature',
  'x-service-signature',
]

/** A log at the given level; `destination` is a file descriptor, or a stream in tests. */
export function openLog(level: string, destination: number | pino.DestinationStream = 2): Log {
  const stream = typeof destination === 'number' ? pino.destination({ dest: destination, sync: true }) : destination
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      redact: { paths: secretMembers.flatMap(name => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]), censor: '[secret]' },
    },
    stream,
  )
}

/** Paths carry heartbeat UUIDs and ingest tokens; a log shows where they stand, not what they are. */
export function redactPath(path: string): string {
  return path
    .replace(/[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}/g, '[secret]')
    .replace(/\bbw_[a-z]+_[A-Za-z0-9]+/g, '[secret]')
    .replace(/^(\/ping\/)[A-Za-z0-9_-]{22}(?=\/|$)/, '$1[secret]')
    .replace(/^(\/ack\/)[^/]+/, '$1[secret]')
}
