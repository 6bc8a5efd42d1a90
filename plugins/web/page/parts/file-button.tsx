/** A button that asks for a file of this device. */
import { Upload } from 'lucide'
import { useRef } from 'preact/hooks'
import { useAction } from './action.ts'
import { Button } from './button.tsx'

interface FileButtonProps {
  /** Also while it is busy: then what is going on stands on it. */
  label: string
  busyLabel: string
  /** Something else is on its way that it must wait for. */
  isBusy?: boolean
  /** Endings and media types, as the browser's own dialog takes them. */
  accept: string
  /** The same file may be chosen again once it is done. */
  onFile: (file: File) => Promise<unknown>
}

export function FileButton({ label, busyLabel, isBusy: isGiven = false, accept, onFile }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null)
  const action = useAction()
  const isBusy = isGiven || action.isBusy
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={accept}
        aria-label={label}
        hidden
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? []
          if (file) void action.run(() => onFile(file).finally(() => void (currentTarget.value = '')))
        }}
      />
      <Button kind="quiet" icon={Upload} isBusy={isBusy} onClick={() => input.current!.click()}>
        {isBusy ? busyLabel : label}
      </Button>
    </>
  )
}
