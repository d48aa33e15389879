import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  call,
  fullToken,
  installation,
  startHub,
  type CommandResult,
  type HubProcess,
  type Installation,
} from '../support/binary'
import { snippetsIn } from '../../src/dashboard/pages/heartbeats/snippets'
import { generatorEnv } from '../support/client-generators'
import { pace, RawHttpClient } from '../support/raw-http-client'

// Tests common ping clients, as packaged by their distributions, against a compiled hub.
let here: Installation
let hub: HubProcess
let token: string

beforeAll(async () => {
  here = await installation()
  hub = await startHub(here)
  token = await fullToken(here)
})
afterAll(async () => {
  await hub?.stop()
  await here?.[Symbol.asyncDispose]()
})

interface Beat {
  id: string
  uuid: string
  ping_url: string
}
const schedule = { kind: 'period', period_seconds: 3600, grace_seconds: 600 }
const createHeartbeat = async (name: string): Promise<Beat> =>
  (await call(hub, token, 'POST', '/v1/heartbeats', { name, schedule })).body
const getHeartbeat = async (beat: Beat) => (await call(hub, token, 'GET', `/v1/heartbeats/${beat.id}`)).body
/** Returns the pings of a heartbeat with their bodies, oldest first. */
async function pingsOf(beat: Beat): Promise<any[]> {
  const { data } = (await call(hub, token, 'GET', `/v1/heartbeats/${beat.id}/pings`)).body
  const withBody = async ({ n }: { n: number }) => (await call(hub, token, 'GET', `/v1/heartbeats/${beat.id}/pings/${n}`)).body
  return await Promise.all(data.reverse().map(withBody))
}
const summary = (ping: any) => [ping.kind, ping.method, ping.exit_status, ping.body]

/** Runs a script like cron does. `URL` is the ping URL. */
async function sh(script: string, url: string, more: Record<string, string> = {}): Promise<CommandResult> {
  const env = { ...here.env, no_proxy: '127.0.0.1', URL: url, ...more }
  const run = Bun.spawn(['bash', '-c', script], {
    env,
    cwd: here.folder,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 150_000,
  })
  const [out, err, code] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text(), run.exited])
  return { code, out, err }
}

describe('curl', () => {
  const curl = 'curl -fsS -m 10 --retry 5 -o /dev/null'

  test('reports success, start, failure, exit status, and output', async () => {
    const beat = await createHeartbeat('curl')
    const steps: [string, string, unknown[]][] = [
      [`${curl} "$URL"`, 'up', ['success', 'GET', null, '']],
      [`${curl} "$URL/start"`, 'up', ['start', 'GET', null, '']],
      [`${curl} --data-raw "7 files, ümlaut" "$URL"`, 'up', ['success', 'POST', null, '7 files, ümlaut']],
      [`${curl} "$URL/fail"`, 'down', ['fail', 'GET', null, '']],
      [`true; ${curl} "$URL/$?"`, 'up', ['success', 'GET', 0, '']],
      [`m=$(echo broken; exit 2); ${curl} --data-raw "$m" "$URL/$?"`, 'down', ['fail', 'POST', 2, 'broken']],
      [`${curl} "$URL/log" --data-raw 'half way'`, 'down', ['log', 'POST', null, 'half way']],
      [`${curl} -I "$URL"`, 'up', ['success', 'HEAD', null, '']],
    ]
    for (const [script, status] of steps) {
      expect(await sh(script, beat.ping_url)).toEqual({ code: 0, out: '', err: '' })
      expect([script, (await getHeartbeat(beat)).status]).toEqual([script, status])
    }
    const pings = await pingsOf(beat)
    expect(pings.map(summary)).toEqual(steps.map(([, , as]) => as) as never)
    expect(pings.map(one => one.n)).toEqual(steps.map((_, place) => place + 1))
    for (const one of pings) expect(one).toMatchObject({ source: '127.0.0.1', user_agent: expect.stringMatching(/^curl\//) })
    // Only the success after the start has a duration.
    expect(pings.map(one => one.duration_ms !== null)).toEqual(pings.map(one => one.n === 3))
  })

  test('measures overlapping runs by their run IDs', async () => {
    const beat = await createHeartbeat('overlap')
    const run = `rid=$(cat /proc/sys/kernel/random/uuid); ${curl} "$URL/start?rid=$rid"; sleep $1; ${curl} "$URL?rid=$rid"`
    expect((await sh(`run() { ${run}; }; run 1 & sleep 0.2; run 0.2 & wait`, beat.ping_url)).code).toBe(0)
    const pings = await pingsOf(beat)
    expect(pings.map(one => one.kind)).toEqual(['start', 'start', 'success', 'success'])
    expect([pings[2].rid, pings[3].rid]).toEqual([pings[1].rid, pings[0].rid])
    expect(pings[2].duration_ms).toBeWithin(200, 900)
    expect(pings[3].duration_ms).toBeWithin(1000, 2500)
    expect(await getHeartbeat(beat)).toMatchObject({ status: 'up', started: false, last_duration_ms: pings[3].duration_ms })
  })

  test('gets the body limit in a header, and longer bodies are truncated', async () => {
    const beat = await createHeartbeat('long log')
    writeFileSync(join(here.folder, 'long'), 'x'.repeat(150_000))
    const sent = await sh(`curl -fsS -D - -o /dev/null --data-binary @long "$URL"`, beat.ping_url)
    expect(sent).toMatchObject({ code: 0, out: expect.stringMatching(/\r\nPing-Body-Limit: 100000\r\n/i) })
    expect(await pingsOf(beat)).toMatchObject([{ kind: 'success', body_bytes: 100_000, body: 'x'.repeat(100_000) }])
  })

  test('fails for an unknown URL', async () => {
    const beat = await createHeartbeat('unknown')
    const unknown = await sh(`curl -fsS -m 10 "$URL"`, `${hub.url}/ping/${crypto.randomUUID()}`)
    expect([unknown.code, unknown.err]).toEqual([22, expect.stringContaining('404')])
    expect((await sh(`curl -fsS -m 10 "$URL/300"`, beat.ping_url)).code).toBe(22)
    expect((await getHeartbeat(beat)).ping_count).toBe(0)
  })

  test('creates a heartbeat with its first ping, and pings it by slug', async () => {
    const { ping_key } = (await call(hub, token, 'GET', '/v1/heartbeats/ping-key')).body
    const url = `${hub.url}/ping/${ping_key}/made-by-curl`
    const run = await sh(`curl -sS "$URL?create=1&every=30m&grace=5m"; curl -sS "$URL/start"; curl -sS "$URL/0"`, url)
    expect(run.out).toBe('CreatedOKOK')
    const { data } = (await call(hub, token, 'GET', '/v1/heartbeats?slug=made-by-curl')).body
    const schedule = { kind: 'period', period_seconds: 1800, grace_seconds: 300 }
    expect(data).toMatchObject([{ status: 'up', ping_count: 3, schedule }])
  })

  test('waits as long as Retry-After says when rate limited, and then succeeds', async () => {
    const beat = await createHeartbeat('rate limited')
    const client = new RawHttpClient(Number(new URL(hub.url).port))
    const flood = () => client.request('GET', `/ping/${beat.uuid}/log`)
    const statuses = await Promise.all(Array.from({ length: 640 }, () => flood().then(response => response.status)))
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    let waitedMs = 0
    for (let tries = 0; tries < 5 && waitedMs < 1000; tries++) {
      // Uses up the refilling quota until curl is rejected and has to wait a second.
      const stop = pace(200, () => void flood().catch(() => null))
      await Bun.sleep(100)
      setTimeout(stop, 400)
      const startedAt = performance.now()
      const { code, out } = await sh(`${curl} -w '%{http_code}' "$URL"`, beat.ping_url)
      waitedMs = performance.now() - startedAt
      expect({ code, out }).toEqual({ code: 0, out: '200' })
    }
    client.close()
    expect(waitedMs).toBeGreaterThan(1000)
    expect((await getHeartbeat(beat)).status).toBe('up')
  }, 180_000)
})

describe('wget', () => {
  test('reports success, failure, output, and a HEAD request', async () => {
    const beat = await createHeartbeat('wget')
    const wget = 'wget -q -T 10 -t 5 -O /dev/null'
    const steps: [string, unknown[]][] = [
      [`${wget} "$URL"`, ['success', 'GET', null, '']],
      [`${wget} "$URL/start"`, ['start', 'GET', null, '']],
      [`${wget} --post-data "all fine" "$URL"`, ['success', 'POST', null, 'all fine']],
      [`false; ${wget} "$URL/$?"`, ['fail', 'GET', 1, '']],
      [`wget -q --spider "$URL"`, ['success', 'HEAD', null, '']],
    ]
    for (const [script] of steps) expect(await sh(script, beat.ping_url)).toEqual({ code: 0, out: '', err: '' })
    const pings = await pingsOf(beat)
    expect(pings.map(summary)).toEqual(steps.map(([, as]) => as))
    expect(pings[2].duration_ms).toBeGreaterThan(0)
    expect(pings[0].user_agent).toStartWith('Wget/')
    // 8: the server returned an error.
    expect((await sh(`${wget} "$URL"`, `${hub.url}/ping/${crypto.randomUUID()}`)).code).toBe(8)
  })
})

describe('the examples of the handbook', () => {
  const example = (title: string, beat: Beat) =>
    snippetsIn(readFileSync('src/docs/ping-examples.md', 'utf8'), beat.ping_url).find(one => one.title === title)!.text

  // The job fails if it has an argument.
  const languages = [
    {
      title: 'Node.js',
      file: 'job.mjs',
      command: 'node job.mjs',
      job: "function runTheJob() { if (process.argv[2]) throw new Error('disk full') }",
    },
    {
      title: 'Python',
      file: 'job.py',
      command: 'python3 job.py',
      job: 'import sys\ndef run_the_job():\n    if len(sys.argv) > 1: raise RuntimeError("disk full")\n',
      isFirst: true,
    },
    {
      title: 'Go',
      file: 'job.go',
      command: './job',
      prepare: 'go build -o job job.go ended.go',
      more: 'package main\nimport ("errors"; "os")\nfunc runTheJob() error { if len(os.Args) > 1 { return errors.New("disk full") }; return nil }\n',
    },
    {
      title: 'PHP',
      file: 'job.php',
      command: 'php job.php',
      job: "function runTheJob(): void { global $argv; if (isset($argv[1])) throw new Exception('disk full'); }",
    },
  ]
  test.concurrent.each(languages)(
    '$title reports success, and a failure with its message',
    async one => {
      const beat = await createHeartbeat(one.title)
      const folder = join(here.folder, one.file)
      mkdirSync(folder)
      const code = example(one.title, beat)
      writeFileSync(join(folder, one.file), one.isFirst ? `${one.job}\n${code}` : `${code}\n${one.job ?? ''}`)
      if (one.more) writeFileSync(join(folder, 'ended.go'), one.more)
      const run = (script: string) => sh(`cd "$FOLDER" && ${script}`, beat.ping_url, { ...generatorEnv, FOLDER: folder } as never)
      if (one.prepare) expect((await run(one.prepare)).err).toBe('')
      expect((await run(one.command)).code).toBe(0)
      expect((await run(`${one.command} fail`)).code).not.toBe(0)
      const pings = await pingsOf(beat)
      expect(pings.map(ping => ping.kind)).toEqual(['start', 'success', 'start', 'fail'])
      expect(pings[3].body).toContain('disk full')
      expect(pings[3].duration_ms).not.toBeNull()
    },
    180_000,
  )

  test('the restic script reports a backup with its output, and a failure', async () => {
    const beat = await createHeartbeat('restic')
    const folder = join(here.folder, 'restic')
    mkdirSync(join(folder, 'source'), { recursive: true })
    writeFileSync(join(folder, 'password'), 'correct horse')
    writeFileSync(join(folder, 'source', 'file'), 'content')
    const script = example('restic', beat)
      .replace('/mnt/backup/restic', join(folder, 'repository'))
      .replace('/etc/restic-password', join(folder, 'password'))
      .replace('/etc /home', join(folder, 'source'))
    writeFileSync(join(folder, 'backup'), script)
    const restic = `restic -r '${join(folder, 'repository')}' -p '${join(folder, 'password')}' init`
    const env = { HOME: folder, FOLDER: folder }
    expect((await sh(restic, beat.ping_url, env)).code).toBe(0)
    expect(await sh('bash "$FOLDER/backup"', beat.ping_url, env)).toEqual({ code: 0, out: '', err: '' })
    rmSync(join(folder, 'repository'), { recursive: true })
    expect((await sh('bash "$FOLDER/backup"', beat.ping_url, env)).code).not.toBe(0)
    const [start, success, restart, fail, ...others] = await pingsOf(beat)
    expect([start.kind, success.kind, restart.kind, fail.kind, others]).toEqual(['start', 'success', 'start', 'fail', []])
    expect(success.body).toMatch(/snapshot \w+ saved/)
    expect(fail.body).toContain('unable to open config file')
  }, 180_000)

  test('the crontab line and the curl and wget commands report the result', async () => {
    const beat = await createHeartbeat('commands')
    const crontab = example('crontab', beat).replace('30 3 * * * /usr/local/bin/backup', '(exit 3)')
    const curl = example('curl', beat).replace('@backup.log', 'log')
    for (const script of [crontab, curl, example('wget', beat)])
      expect(await sh(script, beat.ping_url)).toEqual({ code: 0, out: '', err: '' })
    expect((await pingsOf(beat)).map(ping => [ping.kind, ping.exit_status])).toEqual([
      ['fail', 3],
      ['success', null],
      ['start', null],
      ['fail', null],
      ['success', null],
    ])
  })
})

describe('borgmatic', () => {
  const setUp = async (name: string) => {
    const beat = await createHeartbeat(name)
    const folder = join(here.folder, name)
    const source = join(folder, 'source')
    mkdirSync(source, { recursive: true })
    for (let n = 0; n < 20; n++) writeFileSync(join(source, `file-${n}`), `content ${n}\n`)
    writeFileSync(
      join(folder, 'config.yaml'),
      `
location:
    source_directories:
        - ${source}
    repositories:
        - ${join(folder, 'repository')}
storage:
    unknown_unencrypted_repo_access_is_ok: true
    borg_base_directory: ${join(folder, 'home')}
hooks:
    healthchecks:
        ping_url: ${beat.ping_url}
`,
    )
    const command = `borgmatic --config ${join(folder, 'config.yaml')}`
    const borgmatic = (args: string) => sh(`${command} ${args}`, beat.ping_url, { HOME: folder })
    expect((await borgmatic('rcreate --encryption none')).code).toBe(0)
    return { beat, source, repository: join(folder, 'repository'), borgmatic }
  }

  test('reports the start, end, and duration of a backup, with its log', async () => {
    const { beat, borgmatic } = await setUp('backup')
    const run = await borgmatic('create --stats --verbosity 1 --monitoring-verbosity 1')
    expect(run.code).toBe(0)
    const [start, end, ...others] = await pingsOf(beat)
    expect(others).toEqual([])
    expect(summary(start)).toEqual(['start', 'POST', null, ''])
    expect(summary(end)).toEqual(['success', 'POST', null, expect.stringContaining('Creating archive')])
    expect(end.body).toContain('This archive:')
    expect(end.user_agent).toMatch(/^python-requests\//)
    expect(end.duration_ms).toBe(Date.parse(end.at) - Date.parse(start.at))
    expect(end.duration_ms).toBeGreaterThan(100)
    expect(await getHeartbeat(beat)).toMatchObject({ status: 'up', started: false, last_duration_ms: end.duration_ms })
  }, 180_000)

  test('reports a failed backup with the reason, and the next backup recovers', async () => {
    const { beat, source, repository, borgmatic } = await setUp('failing')
    expect((await borgmatic('create')).code).toBe(0)
    const away = `${repository}-away`
    expect((await sh(`mv ${repository} ${away}`, '')).code).toBe(0)
    expect((await borgmatic('create')).code).not.toBe(0)
    const failed = await pingsOf(beat)
    expect(failed.map(one => one.kind)).toEqual(['start', 'success', 'start', 'fail'])
    expect(failed[3].body).toContain('returned non-zero exit status 2')
    expect(failed[3].duration_ms).toBe(Date.parse(failed[3].at) - Date.parse(failed[2].at))
    expect(await getHeartbeat(beat)).toMatchObject({ status: 'down', started: false })
    const { data } = (await call(hub, token, 'GET', `/v1/events?resource_id=${beat.id}`)).body
    const alert = { kind: 'heartbeat.missed', reason: 'fail', previous_status: 'up' }
    expect(data).toMatchObject([{ kind: 'monitor.alert', data: alert }])

    rmSync(repository, { recursive: true, force: true })
    expect((await sh(`mv ${away} ${repository}`, '')).code).toBe(0)
    writeFileSync(join(source, 'more'), 'more\n')
    expect((await borgmatic('create')).code).toBe(0)
    expect((await getHeartbeat(beat)).status).toBe('up')
    const after = (await call(hub, token, 'GET', `/v1/events?resource_id=${beat.id}`)).body.data
    expect(after.map((one: any) => one.kind)).toEqual(['monitor.recovered', 'monitor.alert'])
  }, 180_000)

  test('truncates its log to the limit of the hub', async () => {
    const { beat, source, borgmatic } = await setUp('talkative')
    for (let n = 0; n < 1500; n++) writeFileSync(join(source, `${n}-${'long-name-'.repeat(12)}`), '')
    const run = await borgmatic('create --list --verbosity 1 --monitoring-verbosity 2')
    expect(run.code).toBe(0)
    expect(run.out.length).toBeGreaterThan(150_000)
    const end = (await pingsOf(beat)).at(-1)
    expect(end.kind).toBe('success')
    // It sends the end of a longer log after its own marker. The hub does not truncate it.
    expect(end.body_bytes).toBeWithin(99_000, 100_001)
    expect(end.body).toStartWith('...\n')
    expect(end.body).toEndWith('\n')
  }, 180_000)
})
