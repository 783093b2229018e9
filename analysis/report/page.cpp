#include "analysis/report/page.h"

#include <kainjow/mustache.hpp>

#include "analysis/report/chart.h"

namespace analysis {

std::string page_html(std::string_view title, const std::string& body, bool timeline) {
  namespace mustache = kainjow::mustache;
  mustache::data page, scripts{mustache::data::type::list};
  scripts.push_back(mustache::data{"text", kTablesScript});
  if (timeline) scripts.push_back(mustache::data{"text", kTimelineScript});
  page.set("title", escape(title));
  page.set("style", kPageStyle);
  page.set("body", body);
  page.set("scripts", scripts);
  return mustache::mustache{kPageTemplate}.render(page);
}

}  // namespace analysis
