/** A button that lets the user choose a local file. */
import { Upload } from 'lucide'
import { useRef } from 'preact/hooks'
import { useAction } from './action.ts'
import { Button } from './button.tsx'

interface FileButtonProps {
  /** Also shown while the button is busy, when it names the progress. */
  label: string
  busyLabel: string
  /** Another request is running, and this action must wait for it. */
  isBusy?: boolean
  /** File extensions and media types, as in the attribute `accept`. */
  accept: string
  /** Called with the chosen file. The input is cleared, so that the same file can be chosen again. */
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
