import { createServer as createPlain, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecure } from 'node:https'

/** A response: a status with a body or headers, or a body with status 200. */
type Reply = { status: number; body?: object; headers?: Record<string, string> }

/** How a reset is answered: by status 204, by 202 with the monitor of a task, or by 202 with the task itself. */
type TaskStyle = 'none' | 'monitor' | 'task'

/** A Redfish service on a local port, with the resources below `/redfish/v1`. */
export class RedfishDouble {
  readonly user = 'bailiwick'
  readonly password = 'changeme-redfish'
  /** What was requested: `GET /redfish/v1/`. */
  readonly requests: string[] = []
  /** Values of `ResetType` that were received. */
  readonly resets: string[] = []
  /** Chassis resources by path, and whatever they refer to. */
  readonly resources: Record<string, object> = {}
  systemIds = ['1']
  power = 'Off'
  /** How often the power is read until it follows a reset. */
  delay = 0
  allowed: string[] | null = [
    'On',
    'ForceOff',
    'GracefulShutdown',
    'GracefulRestart',
    'PowerCycle',
    'ForceRestart',
    'Pause',
    'Resume',
  ]
  /** Whether the allowed values are in an ActionInfo. */
  hasActionInfo = false
  taskStyle: TaskStyle = 'none'
  /** Responses of the task, in order; the last one is repeated. */
  taskReplies: Reply[] = []
  /** Replaces the response to a request; undefined for the normal one. */
  fault: (request: string) => Reply | 'closed' | undefined = () => undefined
  #pending: { power: string; left: number } | null = null
  #server!: ReturnType<typeof createPlain>
  #scheme = 'http'

  /** @param tls certificate and key, in PEM */
  async start(tls?: { cert: string; key: string }): Promise<this> {
    const listener: RequestListener = (request, response) => void this.#serve(request, response)
    this.#server = tls ? createSecure(tls, listener) : createPlain(listener)
    this.#scheme = tls ? 'https' : 'http'
    await new Promise<void>(listening => this.#server.listen(0, '127.0.0.1', listening))
    return this
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${(this.#server.address() as { port: number }).port}`
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const asked = `${request.method} ${request.url}`
    this.requests.push(asked)
    const credentials = Buffer.from(`${this.user}:${this.password}`).toString('base64')
    const isKnown = request.headers.authorization === `Basic ${credentials}`
    const body = parts.length === 0 ? {} : (JSON.parse(Buffer.concat(parts).toString()) as { ResetType?: string })
    const reply = this.fault(asked) ?? (isKnown ? this.#reply(asked, body) : { status: 401, body: problem('Sign in.') })
    if (reply === 'closed') return void request.socket.destroy()
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
    response.end(reply.body && JSON.stringify(reply.body))
  }

  #reply(asked: string, body: { ResetType?: string }): Reply {
    const systems = this.systemIds.map(id => `/redfish/v1/Systems/${encodeURIComponent(id)}`)
    const path = asked.slice(asked.indexOf(' ') + 1)
    if (asked === 'GET /redfish/v1/') return ok({ RedfishVersion: '1.15.0', Systems: { '@odata.id': '/redfish/v1/Systems' } })
    if (asked === 'GET /redfish/v1/Systems') return ok({ Members: systems.map(one => ({ '@odata.id': one })) })
    if (asked === 'GET /redfish/v1/ResetActionInfo')
      return ok({ Parameters: [{ Name: 'ResetType', Required: true, AllowableValues: this.allowed }] })
    if (asked.startsWith('GET /redfish/v1/Task')) return this.#task()
    if (asked.startsWith('GET ') && systems.includes(path)) return ok(this.#system(path))
    if (asked.startsWith('POST ') && systems.some(one => path === `${one}/Actions/ComputerSystem.Reset`))
      return this.#reset(body.ResetType!)
    return this.resources[path] ? ok(this.resources[path]) : { status: 404, body: problem(`${path} was not found.`) }
  }

  #system(path: string): object {
    if (this.#pending && this.#pending.left-- <= 0) {
      this.power = this.#pending.power
      this.#pending = null
    }
    return {
      Id: path.split('/').at(-1),
      Name: 'System',
      Manufacturer: 'Example Corp',
      Model: 'R1',
      SerialNumber: 'SN-1',
      PowerState: this.power,
      Links: { Chassis: [{ '@odata.id': '/redfish/v1/Chassis/1' }] },
      Actions: {
        '#ComputerSystem.Reset': {
          target: `${path}/Actions/ComputerSystem.Reset`,
          ...(this.hasActionInfo
            ? { '@Redfish.ActionInfo': '/redfish/v1/ResetActionInfo' }
            : this.allowed && { 'ResetType@Redfish.AllowableValues': this.allowed }),
        },
      },
    }
  }

  #reset(type: string): Reply {
    this.resets.push(type)
    if (this.allowed?.includes(type) === false) return { status: 400, body: problem(`The value ${type} is not supported.`) }
    if (/^(ForceOff|GracefulShutdown)$/.test(type)) this.#pending = { power: 'Off', left: this.delay }
    if (/On$|Restart$|Cycle$/.test(type)) this.#pending = { power: 'On', left: this.delay }
    if (this.taskStyle === 'none') return { status: 204 }
    const task = { '@odata.id': '/redfish/v1/TaskService/Tasks/7', TaskState: 'Running' }
    // Some services refer to themselves by another address.
    const headers = { location: 'https://192.0.2.1/redfish/v1/TaskMonitors/7' }
    return { status: 202, body: task, ...(this.taskStyle === 'monitor' && { headers }) }
  }

  #task(): Reply {
    const [reply] = this.taskReplies.length > 1 ? this.taskReplies.splice(0, 1) : this.taskReplies
    return reply ?? { status: 404, body: problem('There is no such task.') }
  }
}

const ok = (body: object): Reply => ({ status: 200, body })

/** An error response with an explanation. */
export const problem = (text: string) => ({
  error: {
    code: 'Base.1.8.GeneralError',
    message: 'A general error has occurred.',
    '@Message.ExtendedInfo': [{ MessageId: 'Base.1.8.Other', Message: text }],
  },
})
