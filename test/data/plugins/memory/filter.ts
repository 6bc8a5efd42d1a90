/** Whether a document matches a filter. */
import type { Filter, Scalar } from 'archivolt'
import { filterField, type IndexPlan, type JsonObject, valuesOf } from 'archivolt/index'

export function matches(plan: IndexPlan, doc: JsonObject, filter: Filter | undefined): boolean {
  if (!filter) return true
  const some = (name: string, test: (value: Scalar) => boolean) => valuesOf(filterField(plan, name), doc).some(test)
  if ('and' in filter) return filter.and.every((each) => matches(plan, doc, each))
  if ('or' in filter) return filter.or.some((each) => matches(plan, doc, each))
  if ('not' in filter) return !matches(plan, doc, filter.not)
  if ('eq' in filter) return some(filter.eq[0], (value) => value === filter.eq[1])
  if ('in' in filter) return some(filter.in[0], (value) => filter.in[1].includes(value))
  if ('exists' in filter) return some(filter.exists, () => true)
  if ('prefix' in filter) return some(filter.prefix[0], (value) => String(value).startsWith(filter.prefix[1]))
  const [name, { gt, gte, lt, lte }] = filter.range
  return some(
    name,
    (value) =>
      (gt === undefined || value > gt) &&
      (gte === undefined || value >= gte) &&
      (lt === undefined || value < lt) &&
      (lte === undefined || value <= lte),
  )
}
