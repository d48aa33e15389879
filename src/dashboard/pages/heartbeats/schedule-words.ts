import type { HeartbeatView } from '../../../features/heartbeats/shapes'
import { span } from '../../parts/time'

type Schedule = HeartbeatView['schedule']

/** When pings are expected, in a few words: «every 5 min», «at 03:30 every day». */
export function scheduleWords(schedule: Schedule): string {
  if (schedule.kind === 'period') return `every ${span(schedule.period_seconds * 1000)}`
  const lines = schedule.expression.split('\n').filter(line => line.trim() !== '')
  const words = schedule.kind === 'cron' ? cronWords(schedule.expression) : lines.join(' or ')
  return schedule.timezone === 'UTC' ? words : `${words}, ${schedule.timezone}`
}

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const two = (text: string) => text.padStart(2, '0')

/** The forms of cron expressions that most have, in words; any other as it stands. */
export function cronWords(expression: string): string {
  const words = expression.trim().split(/\s+/)
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = words
  if (words.length !== 5 || month !== '*') return expression
  const isNumber = (text: string) => /^\d{1,2}$/.test(text)
  const every = /^\*\/(\d{1,2})$/.exec(minute)?.[1]
  const onAnyDay = day === '*' && weekday === '*'
  if (hour === '*' && onAnyDay) {
    if (minute === '*') return 'every minute'
    if (every !== undefined && 60 % Number(every) === 0) return `every ${every} min`
    return isNumber(minute) ? `at minute ${Number(minute)} of every hour` : expression
  }
  if (!isNumber(minute) || !isNumber(hour)) return expression
  const at = `at ${two(hour)}:${two(minute)}`
  if (onAnyDay) return `${at} every day`
  if (day === '*' && /^[0-7]$/.test(weekday)) return `${at} every ${days[Number(weekday) % 7]}`
  if (day === '*' && /^1-5$|^mon-fri$/i.test(weekday)) return `${at} from Monday to Friday`
  if (weekday === '*' && isNumber(day)) return `${at} on day ${Number(day)} of every month`
  return expression
}
