import type { HeartbeatView } from '../../../features/heartbeats/shapes'
import { formatDuration, formatTimeOfDay } from '../../parts/time'

type Schedule = HeartbeatView['schedule']

/** Describes a schedule briefly: “every 5 min”, “at 03:30 every day”. */
export function scheduleText(schedule: Schedule): string {
  if (schedule.kind === 'period') return `every ${formatDuration(schedule.period_seconds * 1000)}`
  const lines = schedule.expression.split('\n').filter(line => line.trim() !== '')
  const text = schedule.kind === 'cron' ? cronText(schedule.expression) : lines.join(' or ')
  const isIndependent = text.startsWith('every ') || text.includes(schedule.timezone)
  return isIndependent ? text : `${text}, ${schedule.timezone}`
}

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const padded = (text: string) => text.padStart(2, '0')

/** Describes common cron expressions in words. Returns others unchanged. */
export function cronText(expression: string): string {
  const fields = expression.trim().split(/\s+/)
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields
  if (fields.length !== 5 || month !== '*') return expression
  const isNumber = (text: string) => /^\d{1,2}$/.test(text)
  const every = /^\*\/(\d{1,2})$/.exec(minute)?.[1]
  const onAnyDay = day === '*' && weekday === '*'
  if (hour === '*' && onAnyDay) {
    if (minute === '*') return 'every minute'
    if (every !== undefined && 60 % Number(every) === 0) return `every ${every} min`
    return isNumber(minute) ? `at minute ${Number(minute)} of every hour` : expression
  }
  if (!isNumber(minute) || !isNumber(hour)) return expression
  if (Number(hour) > 23 || Number(minute) > 59) return expression
  const at = `at ${formatTimeOfDay(`${padded(hour)}:${padded(minute)}`)}`
  if (onAnyDay) return `${at} every day`
  if (day === '*' && /^[0-7]$/.test(weekday)) return `${at} every ${days[Number(weekday) % 7]}`
  if (day === '*' && /^1-5$|^mon-fri$/i.test(weekday)) return `${at} from Monday to Friday`
  if (weekday === '*' && isNumber(day)) return `${at} on day ${Number(day)} of every month`
  return expression
}
