import pino from 'pino'

/** Structured log on standard error, one JSON object per line, with secrets redacted. */
export type Log = pino.Logger

/** Fields to redact, at any depth that our log calls use. */
const secretFields = [
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

/**
 * Opens a log with a minimum level. `destination` is a file descriptor, or a stream in tests.
 * @param isReported whether an error is logged elsewhere, once for all; its occurrences are only logged at level debug
 */
export function openLog(
  level: string,
  destination: number | pino.DestinationStream = 2,
  isReported: (error: unknown) => boolean = () => false,
): Log {
  const stream = typeof destination === 'number' ? pino.destination({ dest: destination, sync: true }) : destination
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: {
        logMethod(args, method, number) {
          const { err } = (args[0] ?? {}) as unknown as { err?: unknown }
          if (err !== undefined && number > pino.levels.values.debug! && isReported(err)) this.debug(...args)
          else method.apply(this, args)
        },
      },
      formatters: { level: label => ({ level: label }) },
      redact: { paths: secretFields.flatMap(name => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]), censor: '[secret]' },
    },
    stream,
  )
}
