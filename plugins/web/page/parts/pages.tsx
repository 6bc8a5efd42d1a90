/** Pagination: buttons for the previous and next page, and a way back from a page whose last entry was removed. */
import { useEffect } from 'preact/hooks'
import type { Page } from '../server/records.ts'
import type { Load } from '../stores/load.ts'
import { t } from '../texts/lookup.ts'
import { Button } from './button.tsx'

interface PagesProps {
  /** The number of the page, from 1. */
  page: number
  isMore: boolean
  onPage: (page: number) => void
  /** Label of the button for the previous page; default: newer. */
  before?: string
  /** Label of the button for the next page; default: older. */
  after?: string
}

export const Pages = ({ page, isMore, onPage, before = t('action.newer'), after = t('action.older') }: PagesProps) => (
  <>
    {page > 1 && <Button onClick={() => onPage(page - 1)}>{before}</Button>}
    {isMore && <Button onClick={() => onPage(page + 1)}>{after}</Button>}
  </>
)

/**
 * Leaves a page that has become empty. The list must be read with `getPage`, because for the server such a page does
 * not exist.
 */
export function useLastPage({ now }: Load<Page<unknown>>, page: number, onPage: (page: number) => void): void {
  const isEmpty = now.value.value?.data.length === 0
  useEffect(() => {
    if (isEmpty && page > 1) onPage(page - 1)
  }, [isEmpty, page])
}
