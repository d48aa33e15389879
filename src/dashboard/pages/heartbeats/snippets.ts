import type { HeartbeatView } from '../../../features/heartbeats/shapes'
import { scheduleText } from './schedule-text'

/** A code snippet that pings a heartbeat. */
interface Snippet {
  title: string
  text: string
}

type Schedule = HeartbeatView['schedule']

const exampleUrl = 'https://hub.example.com/ping/5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278'
const exampleCron = '30 3 * * *'
const exampleCalendar = 'OnCalendar=*-*-* 03:30:00 UTC'
const exampleTimezone = 'timeZone: UTC'

/** Returns the snippets of the handbook’s page of examples, one per section, with a ping URL. */
export const snippetsIn = (page: string, url: string): Snippet[] =>
  [...page.matchAll(/^## (.+)\n([\s\S]*?)(?=^## |(?![\s\S]))/gm)].map(([, title, section]) => ({
    title: title!,
    text: [...section!.matchAll(/^```\w+\n([\s\S]*?)\n```$/gm)].map(match => match[1]!.replaceAll(exampleUrl, url)).join('\n\n'),
  }))

/** The title of the snippet that uses the same kind of schedule. */
export const fittingTitle = ({ kind }: Schedule): string => (kind === 'calendar' ? 'systemd' : 'crontab')

const timezoneNotes: Record<string, string> = {
  crontab: 'A crontab uses the time zone of its server.',
  'GitHub Actions': 'By default, GitHub Actions uses UTC.',
}

/** Returns a snippet with the times of a schedule. `note` says what to adapt; null if nothing. */
export function scheduled({ title, text }: Snippet, schedule: Schedule): Snippet & { note: string | null } {
  const usesCron = text.includes(exampleCron)
  if (!usesCron && !text.includes(exampleCalendar)) return { title, text, note: null }
  const { cron, calendar } = timesOf(schedule)
  if ((usesCron ? cron : calendar) === null) {
    const note = `Change the times in this example to the schedule of this heartbeat: ${scheduleText(schedule)}.`
    return { title, text, note }
  }
  const timezone = 'timezone' in schedule ? schedule.timezone : 'UTC'
  const timezoneNote = schedule.kind === 'cron' && (title === 'crontab' || timezone !== 'UTC') && timezoneNotes[title]
  return {
    title,
    text: text
      .replace(exampleCron, cron ?? exampleCron)
      .replace(exampleCalendar, calendar?.map(line => `OnCalendar=${line}`).join('\n') ?? exampleCalendar)
      .replace(exampleTimezone, `timeZone: ${timezone}`),
    note: timezoneNote ? `This schedule is in the time zone ${timezone}. ${timezoneNote}` : null,
  }
}

/** A schedule as a cron expression and as calendar events. Null if it can’t be expressed that way. */
function timesOf(schedule: Schedule): { cron: string | null; calendar: string[] | null } {
  if (schedule.kind === 'period') return periodTimes(schedule.period_seconds)
  if (schedule.kind === 'cron') return { cron: schedule.expression.trim(), calendar: null }
  const lines = schedule.expression.split('\n').map(line => line.trim())
  const hasTimezone = (line: string) => / [a-z]\S*$/i.test(line)
  const events = lines.filter(line => line !== '').map(line => (hasTimezone(line) ? line : `${line} ${schedule.timezone}`))
  return { cron: null, calendar: events }
}

function periodTimes(seconds: number): ReturnType<typeof timesOf> {
  const [minutes, hours] = [seconds / 60, seconds / 3600]
  const every = (count: number) => (count === 1 ? '*' : `*/${count}`)
  if (hours === 24) return { cron: exampleCron, calendar: ['*-*-* 03:30:00 UTC'] }
  if (hours === 7 * 24) return { cron: '30 3 * * 0', calendar: ['Sun *-*-* 03:30:00 UTC'] }
  if (Number.isInteger(hours) && 24 % hours === 0)
    return { cron: `30 ${every(hours)} * * *`, calendar: [`*-*-* 0/${hours}:30:00 UTC`] }
  if (Number.isInteger(minutes) && 60 % minutes === 0)
    return { cron: `${every(minutes)} * * * *`, calendar: [`*-*-* *:0/${minutes}:00 UTC`] }
  return { cron: null, calendar: null }
}
