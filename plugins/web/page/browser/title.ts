/** The title of the document: the view's, then the program's name. */
import { useEffect } from 'preact/hooks'
import { apart } from '../texts/direction.ts'
import { t } from '../texts/lookup.ts'

export function setTitle(title: string): void {
  document.title = title === '' ? t('app.name') : `${apart(title)} – ${t('app.name')}`
}

/** @param title  undefined: not known yet */
export function useTitle(title: string | undefined): void {
  // Runs after the layout effect in which the frame sets its general title.
  useEffect(() => {
    if (title !== undefined) setTitle(title)
  }, [title])
}
