/** Actions of buttons, menus and forms: each runs once at a time, and a failure is shown. */
import { createContext } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { sayFailure } from './toast.ts'

/** Whether the surrounding form is being submitted. */
export const FormBusy = createContext(false)

interface Actions {
  busy: ReadonlySet<string>
  /**
   * Does nothing while an action of the same name runs.
   * @param work  may return a promise
   */
  run(name: string, work: () => unknown): Promise<void>
}

export function useActions(onFailure: (error: unknown) => void = sayFailure): Actions {
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set())
  // Changed immediately: a second click could come before the next render.
  const running = useRef(new Set<string>()).current
  const show = () => setBusy(new Set(running))
  const run = async (name: string, work: () => unknown): Promise<void> => {
    if (running.has(name)) return
    const result = work()
    if (!(result instanceof Promise)) return
    running.add(name)
    show()
    await result.catch(onFailure)
    running.delete(name)
    show()
  }
  return { busy, run }
}

interface Action {
  isBusy: boolean
  run(work: () => unknown): Promise<void>
}

export function useAction(onFailure?: (error: unknown) => void): Action {
  const { busy, run } = useActions(onFailure)
  return { isBusy: busy.size > 0, run: (work) => run('', work) }
}
