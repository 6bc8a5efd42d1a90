/** A form of the settings that its own code sends: what is wrong is said at its fields, not by the browser. */
import type { ComponentChildren } from 'preact'

export function OptionForm({ submit, children }: { submit: () => Promise<unknown>; children: ComponentChildren }) {
  return (
    <form
      class="option-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      {children}
    </form>
  )
}
