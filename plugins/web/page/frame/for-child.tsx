/** What the frame shows a child: the time left, and answers to its asks. Loaded only for such accounts. */
import { useEffect, useState } from 'preact/hooks'
import { moreStyles } from '../browser/styles.ts'
import { sayFailure } from '../parts/toast.ts'
import { isThere } from '../stores/left-out.ts'
import { account } from '../stores/session.ts'
import { moreTexts } from '../texts/lookup.ts'
import type * as Child from '../views/child/child.tsx'

export function ForChild({ part }: { part: 'TimeLeft' | 'TimeOver' | 'Answers' }) {
  const [child, setChild] = useState<typeof Child>()
  const isChild = Boolean(account.value?.view) && isThere(part === 'Answers' ? 'ask' : 'screentime')
  useEffect(() => {
    if (!isChild) return
    Promise.all([import('../views/child/child.tsx'), moreTexts(), moreStyles()]).then(
      ([loaded]) => setChild(loaded),
      sayFailure,
    )
  }, [isChild])
  const Part = child?.[part]
  return isChild && Part ? <Part /> : null
}
