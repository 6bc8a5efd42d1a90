/** The title of the document: of the view, then the name of the program. */
import { useEffect } from 'preact/hooks'
import { apart } from '../texts/direction.ts'
import { t } from '../texts/lookup.ts'

export function setTitle(title: string): void {
  document.title = title === '' ? t('app.name') : `${apart(title)} – ${t('app.name')}`
}

/** @param title  undefined: not known yet */
export function useTitle(title: string | undefined): void {
  // After the layout effect by which the frame sets the general title of the same moment.
  useEffect(() => {
    if (title !== undefined) setTitle(title)
  }, [title])
}
