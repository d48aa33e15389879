/** A thread of this program, as whoever started it sees it. What it hears once it was told to end comes to nobody. */
export interface Thread<To> {
  post(message: To): void
  /** Tells it to stop, and ends it when it says `{ kind: 'stopped' }`, or after two seconds. */
  stop(message: To): Promise<void>
  /** Ends it at once, whatever it is doing. */
  end(): void
}

const stopMs = 2000

/**
 * Starts a thread; what is posted before it is ready waits for it.
 * @param entry the file of an entry point of its own beside the program's
 * @param on `failed`: an error that nothing caught, `ended`: it is gone, for whatever reason; both may follow each other
 * @param options `smol`: its garbage is collected sooner, which takes less memory and a little more time
 */
export function startThread<To, From extends { kind: string }>(
  entry: string,
  on: { hear(message: From): void; failed(reason: string): void; ended(): void },
  options: { smol: boolean } = { smol: false },
): Thread<To> {
  const worker = new Worker(entry, options)
  const gone = Promise.withResolvers<void>()
  worker.onmessage = ({ data }: MessageEvent<From>) => {
    if (data.kind === 'stopped') gone.resolve()
    else on.hear(data)
  }
  worker.onerror = event => {
    event.preventDefault()
    on.failed(event.message)
  }
  worker.addEventListener('close', () => {
    gone.resolve()
    on.ended()
  })
  return {
    post: message => worker.postMessage(message),
    async stop(message) {
      worker.postMessage(message)
      await Promise.race([gone.promise, Bun.sleep(stopMs)])
      worker.terminate()
    },
    end: () => worker.terminate(),
  }
}
