import { expect, test } from 'bun:test'
import { installCommands } from './install-commands'

const installation = {
  baseUrl: 'https://hub.example.com',
  hubKey: 'ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  key: 'bw_enrol_4f6Tq0bWm2Zx8Kc1Vn7Rj3Ls9Hd5Pa1x7Kq2',
  pin: null,
  allow: [],
}
const options = `--hub https://hub.example.com --key ${installation.key} --hub-key ${installation.hubKey}`

test('the commands install the agent with what the hub knows', () => {
  expect(installCommands(installation)).toEqual({
    curl: `curl -fsSL https://hub.example.com/download/agent | sudo sh -s -- ${options}`,
    wget: `wget -qO- https://hub.example.com/download/agent | sudo sh -s -- ${options}`,
    cloud_init: `#cloud-config\nruncmd:\n  - [sh, -c, "curl -fsSL https://hub.example.com/download/agent | sh -s -- ${options}"]\n`,
  })
})

test('a self-signed certificate is pinned, and permissions are quoted for the shell', () => {
  const { curl, wget } = installCommands({ ...installation, pin: 'sha256:00ff', allow: ['reboot', 'restart:a\\x2d.service'] })
  expect(curl).toStartWith('curl -fsSLk ')
  expect(wget).toStartWith('wget -qO- --no-check-certificate ')
  expect(curl).toEndWith(` --pin sha256:00ff --allow 'reboot,restart:a\\x2d.service'`)
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
