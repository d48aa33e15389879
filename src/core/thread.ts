import { loopBlocks } from './loop-blocks'

/** A worker thread. Messages posted after `stop` are lost. */
export interface Thread<To> {
  post(message: To): void
  /** Posts `message` to make it stop, and terminates it when it replies `{ kind: 'stopped' }`, or after two seconds. */
  stop(message: To): Promise<void>
  /** Terminates it immediately. */
  terminate(): void
}

const stopMs = 2000

/**
 * Starts a thread. Messages posted before it is ready are queued.
 * @param entry the file of its entry point
 * @param on `failed` is called for an uncaught error, `ended` when the thread has ended for any reason; both may be called
 * @param options `smol` collects garbage earlier, which saves memory and costs a little time
 */
export function startThread<To, From extends { kind: string }>(
  entry: string,
  on: { message(message: From): void; failed(reason: string): void; ended(): void },
  options: { smol: boolean } = { smol: false },
): Thread<To> {
  const worker = new Worker(entry, options)
  const ended = Promise.withResolvers<void>()
  worker.onmessage = ({ data }: MessageEvent<From>) => {
    loopBlocks.expectWork()
    if (data.kind === 'stopped') ended.resolve()
    else on.message(data)
  }
  worker.onerror = event => {
    event.preventDefault()
    on.failed(event.message)
  }
  worker.addEventListener('close', () => {
    ended.resolve()
    on.ended()
  })
  return {
    post: message => worker.postMessage(message),
    async stop(message) {
      worker.postMessage(message)
      await Promise.race([ended.promise, Bun.sleep(stopMs)])
      worker.terminate()
    },
    terminate: () => worker.terminate(),
  }
}
