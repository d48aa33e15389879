import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { sha256Hex } from '../../../core/crypto'
import installer from './install-agent.sh' with { type: 'text' }
import { installCommands } from './install-commands'
import { shellAgent } from './shell/shell-agent'

const installation = {
  baseUrl: 'https://hub.example.com',
  hubKey: 'ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  key: 'bw_enrol_4f6Tq0bWm2Zx8Kc1Vn7Rj3Ls9Hd5Pa1x7Kq2',
  certificate: null,
  allow: [],
}
const certificate = new X509Certificate(readFileSync('test/fixtures/tls/self-signed.pem'))
const options = `--hub https://hub.example.com --key ${installation.key} --hub-key ${installation.hubKey}`

test('the commands install the agent with what the hub knows', () => {
  expect(installCommands(installation)).toMatchObject({
    curl: `curl -fsSL https://hub.example.com/download/agent | sudo sh -s -- ${options}`,
    wget: `wget -qO- https://hub.example.com/download/agent | sudo sh -s -- ${options}`,
    cloud_init: `#cloud-config\nruncmd:\n  - [sh, -c, "curl -fsSL https://hub.example.com/download/agent | sh -s -- ${options}"]\n`,
  })
})

test('without a certificate that can be verified, the script is checked before it is run', () => {
  const digest = sha256Hex(installer)
  const { curl, wget } = installCommands({ ...installation, certificate, allow: ['reboot', 'restart:a\\x2d.service'] })
  const checked = `https://hub.example.com/download/agent >"$f" && echo "${digest}  $f" | sha256sum -c >/dev/null && sudo sh "$f" ${options}`
  const pinned = `--pin sha256:${sha256Hex(certificate.raw)} --allow 'reboot,restart:a\\x2d.service'`
  expect(curl).toBe(`f=$(mktemp) && curl -fsSLk ${checked} ${pinned}`)
  expect(wget).toBe(`f=$(mktemp) && wget -qO- --no-check-certificate ${checked} ${pinned}`)
  const { curl: plain, cloud_init } = installCommands({ ...installation, baseUrl: 'http://hub.example.com' })
  expect(plain).toStartWith('f=$(mktemp) && curl -fsSL http://hub.example.com/download/agent >"$f" && ')
  expect(Bun.YAML.parse(cloud_init)).toEqual({ runcmd: [['sh', '-c', plain.replace('sudo ', '')]] })
})

test('a script that was replaced on the way is not run', async () => {
  using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(script) })
  let script = 'echo replaced'
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-install-'))
  const { cloud_init } = installCommands({ ...installation, baseUrl: server.url.origin })
  const { runcmd } = Bun.YAML.parse(cloud_init) as { runcmd: string[][] }
  // Without options, the script only says what is missing.
  const [shell, option, command] = runcmd[0]!
  const run = async () => {
    const harmless = `export TMPDIR=${folder}; ${command!.replace(/--hub .*/, '')}`
    const { stdout, stderr, exited } = Bun.spawn([shell!, option!, harmless], { stderr: 'pipe' })
    return [await exited, `${await new Response(stdout).text()}${await new Response(stderr).text()}`]
  }
  expect(await run()).toEqual([1, expect.stringMatching(/^sha256sum: WARNING: 1 .* did NOT match\n$/)])
  script = installer
  expect(await run()).toEqual([1, expect.stringContaining('bailiwick-agent: ')])
  rmSync(folder, { recursive: true })
})

test('a shell and YAML read the command as it was meant', async () => {
  const allow = ['reboot', "restart:it's.service"]
  const { curl, cloud_init } = installCommands({ ...installation, allow })
  const argumentsOf = async (command: string) => {
    const script = command.replace(/^.* \| (?:sudo )?sh -s -- /, `printf '%s\\n' `)
    return (await new Response(Bun.spawn(['sh', '-c', script]).stdout).text()).trim().split('\n')
  }
  expect((await argumentsOf(curl)).slice(-2)).toEqual(['--allow', allow.join(',')])
  const { runcmd } = Bun.YAML.parse(cloud_init) as { runcmd: string[][] }
  expect(runcmd[0]!.slice(0, 2)).toEqual(['sh', '-c'])
  expect((await argumentsOf(runcmd[0]![2]!)).slice(-2)).toEqual(['--allow', allow.join(',')])
})

test('the shell agent is always checked before it is run, and contains a certificate that no authority confirms', () => {
  const { shell_agent: verified } = installCommands({ ...installation, allow: ['reboot'] })
  const after = (script: string, url: string) =>
    `>"$f" && echo "${sha256Hex(script)}  $f" | sha256sum -c >/dev/null && sh "$f" install --hub ${url} --key ${installation.key}`
  const https = 'https://hub.example.com'
  expect(verified).toBe(`f=$(mktemp) && curl -fsS ${https}/download/agent.sh ${after(shellAgent(null), https)}`)
  const { shell_agent: pinned } = installCommands({ ...installation, certificate })
  expect(pinned).toBe(`f=$(mktemp) && curl -fsSk ${https}/download/agent.sh ${after(shellAgent(certificate), https)}`)
  const http = 'http://192.0.2.1:8080'
  const { shell_agent: plain } = installCommands({ ...installation, baseUrl: http })
  expect(plain).toBe(
    `f=$(mktemp) && if command -v wget >/dev/null; then wget -qO- ${http}/download/agent.sh; else curl -fsS ${http}/download/agent.sh; fi ${after(shellAgent(null), http)}`,
  )
  expect(shellAgent(certificate)).toContain(`certificate='${certificate.toString().trim()}'\n`)
})
