import { expect, test } from 'bun:test'
import { openRcScript } from './openrc'

test('the service of OpenRC is a script that runs the agent as its user, and creates its folder first', async () => {
  const [interpreter, ...lines] = openRcScript.split('\n')
  expect(interpreter).toBe('#!/sbin/openrc-run')
  const script = `set -eu
    checkpath() { echo "checkpath $*"; }
    use() { echo "use $*"; }
    after() { echo "after $*"; }
    ${lines.join('\n')}
    echo "$supervisor $command $command_args as $command_user, BUN_JSC_useJIT=$(printenv BUN_JSC_useJIT)"
    depend
    start_pre`
  const run = Bun.spawn(['sh', '-c', script], { stdout: 'pipe', stderr: 'inherit' })
  expect((await new Response(run.stdout).text()).trim().split('\n')).toEqual([
    'supervise-daemon /usr/local/bin/bailiwick-agent run as bailiwick-agent:bailiwick-agent, BUN_JSC_useJIT=0',
    'use net',
    'after firewall',
    'checkpath --directory --owner bailiwick-agent:bailiwick-agent --mode 0755 /run/bailiwick-agent',
  ])
})
