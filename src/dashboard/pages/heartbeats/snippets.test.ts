import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { fittingTitle, scheduled, snippetsIn } from './snippets'

const page = readFileSync('src/docs/ping-examples.md', 'utf8')

test('the examples of the handbook are shown with the ping URL of the heartbeat', () => {
  const url = 'https://monitoring.example.org/ping/6a0c'
  const found = snippetsIn(page, url)
  expect(found.map(one => one.title)).toEqual([
    'crontab',
    'systemd',
    'Docker',
    'Kubernetes',
    'GitHub Actions',
    'borgmatic',
    'restic',
    'Node.js',
    'Python',
    'Go',
    'PHP',
    'PowerShell',
    'curl',
    'wget',
  ])
  for (const { title, text } of found) {
    expect([title, text.includes(url), text.includes('hub.example.com')]).toEqual([title, true, false])
    expect(text).not.toContain('```')
  }
  // Both files.
  expect(found[1]!.text).toContain('backup.service\n[Unit]')
  expect(found[1]!.text).toContain('backup.timer\n[Unit]')
})

describe('the times in the examples', () => {
  const all = snippetsIn(page, 'https://monitoring.example.org/ping/6a0c')
  const shown = (title: string, schedule: Parameters<typeof scheduled>[1]) => {
    const { text, note } = scheduled(
      all.find(one => one.title === title)!,
      schedule,
    )
    const times = /^(?:[*\d].*(?= \/usr)|OnCalendar=.*(?:\nOnCalendar=.*)*| *schedule: .*\n +timeZone: .*| *- cron: .*)/m.exec(
      text,
    )?.[0]
    return [times?.trim().replace(/\n */g, ', '), note]
  }

  test('of a cron schedule are its own', () => {
    const weekly = { kind: 'cron', expression: '15 4 * * 0', timezone: 'Europe/Berlin', grace_seconds: 60 } as const
    const note = 'This schedule is in the time zone Europe/Berlin. '
    expect(fittingTitle(weekly)).toBe('crontab')
    expect(shown('crontab', weekly)).toEqual(['15 4 * * 0', `${note}A crontab uses the time zone of its server.`])
    expect(shown('Kubernetes', weekly)).toEqual(['schedule: "15 4 * * 0", timeZone: Europe/Berlin', null])
    expect(shown('GitHub Actions', weekly)).toEqual(["- cron: '15 4 * * 0'", `${note}By default, GitHub Actions uses UTC.`])
    expect(shown('GitHub Actions', { ...weekly, timezone: 'UTC' })[1]).toBeNull()
    expect(shown('systemd', weekly)[1]).toMatch(
      /^Change the times in this example to the schedule of this heartbeat: at 0?4:15(\sAM)? every Sunday, Europe\/Berlin\.$/,
    )
    expect(shown('Docker', weekly)).toEqual([undefined, null])
  })

  test('of systemd calendar events are its own', () => {
    const expression = '*-*-* 02:00:00\nSun 12:00 Asia/Tokyo'
    const events = { kind: 'calendar', expression, timezone: 'UTC', grace_seconds: 60 } as const
    expect(fittingTitle(events)).toBe('systemd')
    expect(shown('systemd', events)).toEqual(['OnCalendar=*-*-* 02:00:00 UTC, OnCalendar=Sun 12:00 Asia/Tokyo', null])
    expect(shown('crontab', events)[1]).toBe(
      'Change the times in this example to the schedule of this heartbeat: *-*-* 02:00:00 or Sun 12:00 Asia/Tokyo, UTC.',
    )
  })

  test.each([
    [60, '* * * * *', '*-*-* *:0/1:00'],
    [900, '*/15 * * * *', '*-*-* *:0/15:00'],
    [3600, '30 * * * *', '*-*-* 0/1:30:00'],
    [21_600, '30 */6 * * *', '*-*-* 0/6:30:00'],
    [86_400, '30 3 * * *', '*-*-* 03:30:00'],
    [604_800, '30 3 * * 0', 'Sun *-*-* 03:30:00'],
  ])('fit a period of %i seconds', (period_seconds, cron, calendar) => {
    const schedule = { kind: 'period', period_seconds, grace_seconds: 60 } as const
    expect(shown('crontab', schedule)).toEqual([cron, null])
    expect(shown('Kubernetes', schedule)).toEqual([`schedule: "${cron}", timeZone: UTC`, null])
    expect(shown('systemd', schedule)).toEqual([`OnCalendar=${calendar} UTC`, null])
  })

  test.each([30, 2700, 90_000])('must be changed for a period of %i seconds', period_seconds => {
    const schedule = { kind: 'period', period_seconds, grace_seconds: 60 } as const
    for (const title of ['crontab', 'systemd', 'Kubernetes', 'GitHub Actions'])
      expect(shown(title, schedule)[1]).toStartWith('Change the times in this example to the schedule of this heartbeat: every ')
  })
})
