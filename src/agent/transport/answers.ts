import type { AgentConfig, EnrolmentAnswer, ReportAnswer } from '../../wire/agent'

/** The hub’s response is not what the agent expects, such as the page of a captive portal. The message says what is wrong. */
export class InvalidAnswer extends Error {
  override readonly name = 'InvalidAnswer'
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Checks the response to a report. @param seq number of the report @throws InvalidAnswer */
export function readReportAnswer(body: unknown, seq: number): ReportAnswer {
  const answer = record(body)
  if (answer.acknowledged !== seq) throw new InvalidAnswer(`acknowledged must be ${seq}, not ${shown(answer.acknowledged)}`)
  if (!isTime(answer.time)) throw new InvalidAnswer(`time must be a time in milliseconds, not ${shown(answer.time)}`)
  return { acknowledged: seq, time: answer.time, config: readConfig(answer.config), send_all: answer.send_all === true }
}

/** Checks the response to an enrolment. @throws InvalidAnswer */
export function readEnrolmentAnswer(body: unknown): EnrolmentAnswer {
  const answer = record(body)
  const text = (name: string) => {
    const value = answer[name]
    if (typeof value !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(value))
      throw new InvalidAnswer(`${name} must be a text, not ${shown(value)}`)
    return value
  }
  return {
    agent_id: text('agent_id'),
    server_id: text('server_id'),
    token: text('token'),
    hub_key: text('hub_key'),
    config: readConfig(answer.config),
  }
}

const areNames = (value: unknown, maxLength: number): value is string[] =>
  Array.isArray(value) &&
  value.length <= 20 &&
  value.every(one => typeof one === 'string' && one !== '' && one.length <= maxLength)

/** Checks settings from the hub. @throws InvalidAnswer */
export function readConfig(value: unknown): AgentConfig {
  const config = record(value, 'config')
  const { interval_seconds: interval, watched_units: units, watched_processes: processes = [] } = config
  if (!Number.isInteger(interval) || (interval as number) < 10 || (interval as number) > 3600)
    throw new InvalidAnswer(`config.interval_seconds must be from 10 to 3600, not ${shown(interval)}`)
  if (!areNames(units, 200)) throw new InvalidAnswer('config.watched_units must be up to 20 names')
  if (!areNames(processes, 100)) throw new InvalidAnswer('config.watched_processes must be up to 20 names')
  return {
    interval_seconds: interval as number,
    watched_units: units,
    ...(processes.length > 0 && { watched_processes: processes }),
  }
}

function record(value: unknown, name = 'the body'): Record<string, unknown> {
  if (!isRecord(value)) throw new InvalidAnswer(`${name} must be a JSON object, not ${shown(value)}`)
  return value
}

export const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= 8.64e15

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
