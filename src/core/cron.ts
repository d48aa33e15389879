import { Cron } from 'croner'

/** An invalid cron expression. The message is a full sentence. */
export class InvalidCron extends Error {
  override name = 'InvalidCron'
}

/**
 * Parses a cron expression with five fields: minute, hour, day, month, weekday. A time skipped by a daylight saving change runs
 * when the clocks have moved forward. A time that occurs twice runs once, unless the expression runs every hour or more often.
 * @param zone canonical name of the time zone (see wall-clock)
 * @returns `next`: the first run after a time (ms UTC), or null if there is none
 * @throws InvalidCron
 */
export function parseCron(expression: string, zone: string): { next(after: number): number | null } {
  const words = expression.trim().split(/[ \t]+/)
  if (words.length !== 5 || /[\r\n]/.test(expression.trim()))
    throw new InvalidCron(
      `A cron expression must have five fields on one line (minute hour day month weekday): "${expression.trim()}".`,
    )
  try {
    const cron = new Cron(words.join(' '), { timezone: zone, mode: '5-part' })
    return { next: after => cron.nextRun(new Date(after))?.getTime() ?? null }
  } catch (error) {
    const cause = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error)
    throw new InvalidCron(`The cron expression "${expression.trim()}" is invalid: ${cause}${cause.endsWith('.') ? '' : '.'}`)
  }
}
