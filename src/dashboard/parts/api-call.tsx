import { Terminal } from 'lucide-react'
import { useState } from 'react'
import { curlCommand, type Call } from '../client'
import { Code } from './code'
import { Dialog } from './dialog'

/** Shows the API call of a form as a curl command. */
export function ApiCall({ call }: { call(): Call }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button
        type="button"
        onClick={() => setOpen(true)}
        className="inline-flex items-center gap-1.5 text-[13px] text-muted hover:text-ink"
      >
        <Terminal className="size-3.5" aria-hidden />
        View as API call
      </button>
      <Dialog open={isOpen} onClose={() => setOpen(false)} title="API call" wide>
        {isOpen && <CurlCommand call={call()} />}
      </Dialog>
    </>
  )
}

/** A call as a curl command. */
export const CurlCommand = ({ call }: { call: Call }) => (
  <div className="flex flex-col gap-3">
    <p className="text-muted">
      Replace <code className="font-mono">$TOKEN</code> with an API token. Secrets you entered are masked.
    </p>
    <Code text={curlCommand(call)} label="curl command" wrap />
  </div>
)
