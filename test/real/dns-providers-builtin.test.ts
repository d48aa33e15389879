import { call, fullToken, installation, startHub, until } from '../support/binary'
import { builtinProvider } from '../support/builtin-provider'
import { aliasesOf, byApi, zoneNamed } from '../support/builtin-under-test'
import { providerContract } from '../support/provider-contract'
import { pluginContext } from '../support/plugin-context'
import { digOutput } from '../support/update-server-under-test'
import { rrsetsOfText } from '../support/zone-rrsets'

// The compiled hub with its API, and zone transfers by `dig` from its name server.
providerContract('builtin', async () => {
  const here = await installation()
  const hub = await startHub(here)
  const token = await fullToken(here)
  const ask = (method: string, path: string, body?: unknown) => call(hub, token, method, path, body)
  const key = (await ask('POST', '/v1/dns/providers/builtin/tsig-keys', { name: 'looks.example' })).body
  const opened = (access: object = {}) => builtinProvider({ url: hub.url, token, ...access }, pluginContext())
  return {
    ...byApi(ask),
    provider: opened(),
    unauthorized: opened({ token: `${token}x` }),
    unreachable: opened({ url: 'http://127.0.0.1:9' }),
    async look(name) {
      const { serial } = await zoneNamed(ask, name)
      const transferred = () => digOutput(hub.dnsPort, name, `${key.algorithm}:${key.name}:${key.secret}`)
      const isOf = (text: string) => new RegExp(`\\sSOA\\s+\\S+\\s+\\S+\\s+${serial}\\s`).test(text)
      let text = ''
      await until(`serial ${serial} of ${name}`, async () => isOf((text = await transferred())))
      return [...rrsetsOfText(text, name), ...(await aliasesOf(ask, name))]
    },
    async stop() {
      await hub.stop()
      await here[Symbol.asyncDispose]()
    },
  }
})
