/** Buttons to the pages before and after the shown page of a list, if they exist. */
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
