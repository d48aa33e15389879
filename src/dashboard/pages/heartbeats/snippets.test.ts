import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { snippetsIn } from './snippets'

test('the examples of the handbook are shown with the ping URL of the heartbeat', () => {
  const url = 'https://monitoring.example.org/ping/6a0c'
  const found = snippetsIn(readFileSync('src/docs/ping-examples.md', 'utf8'), url)
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
