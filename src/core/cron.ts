import { Cron } from 'croner'

/** A cron expression that is not taken; the message is a sentence. */
export class CronRefused extends Error {
  override name = 'CronRefused'
}

/**
 * A cron expression of five words: minute, hour, day, month, weekday. A time that the clocks skip comes when they have been set
 * forward; one that they show twice comes once, unless the expression comes up each hour or more often.
 * @param zone canonical name of the time zone (see wall-clock)
 * @returns `next`: the first time after that one (ms UTC), or null when there is none
 * @throws CronRefused
 */
export function cronOf(expression: string, zone: string): { next(after: number): number | null } {
  const words = expression.trim().split(/[ \t]+/)
  if (words.length !== 5 || /[\r\n]/.test(expression.trim()))
    throw new CronRefused(
      `A cron expression is five words on one line (minute hour day month weekday), not "${expression.trim()}".`,
    )
  try {
    const cron = new Cron(words.join(' '), { timezone: zone, mode: '5-part' })
    return { next: after => cron.nextRun(new Date(after))?.getTime() ?? null }
  } catch (error) {
    const cause = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error)
    throw new CronRefused(`The cron expression "${expression.trim()}" is refused: ${cause}${cause.endsWith('.') ? '' : '.'}`)
  }
}
