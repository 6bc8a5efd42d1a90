/** The pages of a list: buttons to those before and after, and back from one whose last entry is gone. */
import { useEffect } from 'preact/hooks'
import type { Page } from '../server/records.ts'
import type { Load } from '../stores/load.ts'
import { t } from '../texts/lookup.ts'
import { Button } from './button.tsx'

interface PagesProps {
  /** From 1. */
  page: number
  isMore: boolean
  onPage: (page: number) => void
  /** Default: newer. */
  before?: string
  /** Default: older. */
  after?: string
}

export const Pages = ({ page, isMore, onPage, before = t('action.newer'), after = t('action.older') }: PagesProps) => (
  <>
    {page > 1 && <Button onClick={() => onPage(page - 1)}>{before}</Button>}
    {isMore && <Button onClick={() => onPage(page + 1)}>{after}</Button>}
  </>
)

/** Leaves a page that has become empty. Read the list with `getPage`: for the server, such a page does not exist. */
export function useLastPage({ now }: Load<Page<unknown>>, page: number, onPage: (page: number) => void): void {
  const isEmpty = now.value.value?.data.length === 0
  useEffect(() => {
    if (isEmpty && page > 1) onPage(page - 1)
  }, [isEmpty, page])
}
